import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { MS_PER_DAY } from '../../../src/market/day.ts';
import { marketOf, tradeDate } from '../../../src/market/session.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { newFolder } from '../../support/ledger.ts';
import { openpit, spawnOpenpit } from '../../support/program.ts';

test('a start 20 days after the last write does not close an open session until the operator accepts the clock', async () => {
  const dataDir = newFolder();
  const settings = { OPENPIT_DATA_DIR: dataDir, OPENPIT_DEMO: 'false', OPENPIT_PORT: '0' };
  const at = systemClock.now() - 20 * MS_PER_DAY;
  const ledger = await Ledger.open(join(dataDir, 'openpit.db'), systemClock);
  const gold = (await ledger.symbols.list()).find(({ code }) => code === 'XAU')!;
  await ledger.ticks.append([{ symbolId: gold.id, id: 'a', at, received: at, price: 4_000 }], 'push');
  const day = tradeDate(marketOf(gold.market), at);
  const ticks = async () => (await ledger.ticks.ofDay(gold.id, 'real', day)).length;

  const { exitCode, stderr } = await openpit(['serve'], settings);
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain(new Date(at).toISOString());
  expect(stderr).toContain('--accept-clock');
  expect(await ticks()).toBe(1);
  expect(await ledger.bars.count()).toBe(0);

  const accepted = spawnOpenpit(['serve', '--accept-clock'], settings);
  let said = '';
  for await (const bytes of accepted.stdout) {
    said += new TextDecoder().decode(bytes);
    if (said.includes('listens on')) break;
  }
  expect(said).toContain('listens on');
  accepted.kill('SIGTERM');
  await accepted.exited;
  await ledger.close();
}, 180_000);
