import { join } from 'node:path';
import { Ledger } from '../../../../src/ledger/ledger.ts';
import { parseDay, utcDay } from '../../../../src/market/day.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { DamagedTable } from '../../../support/database/damaged-ledger.ts';
import { WebhookReceiver } from '../../../support/http/webhook-receiver.ts';
import { eventually } from '../../../support/program.ts';
import type { Settings } from '../environment.ts';
import { row } from '../row.ts';
import { alarmIsPosted, healthBecomes, holdsOneAlarm } from './alarmed.ts';

/** A day that a start does not load. */
const OLD_DATE = '2015-01-02';

async function publishPrices(file: string): Promise<void> {
  const ledger = await Ledger.open(file, systemClock);
  const gold = (await ledger.symbols.list()).find(({ code }) => code === 'XAU')!;
  const days = [parseDay(OLD_DATE)!, utcDay(systemClock.now()) - 7];
  const bars = days.map((day) => ({ symbolId: gold.id, day, open: 1, high: 1, low: 1, close: 1 }));
  await ledger.bars.publish(bars, { source: 'test', recordedAt: systemClock.now() });
  await ledger.close();
}

export const corruptPage = row('corrupt-page', {
  fault: 'a page of the SQLite file is corrupt, and is repaired later',
  mustHold:
    'readiness turns 503 within 5 s of the first request that needs it, one alarm, cleared on repair; no log flood',
  async run(environment, { requests }) {
    const receiver = new WebhookReceiver();
    environment.atEnd(() => receiver.stop());
    const settings: Settings = { ...(await environment.settings()), OPENPIT_WEBHOOK_URL: receiver.url };
    const { key } = await environment.account(settings, 1_000_000);
    const file = join(settings.OPENPIT_DATA_DIR!, 'openpit.db');
    await publishPrices(file);
    const program = await environment.program(settings);
    const from = program.stderr.length;
    const table = new DamagedTable(file, 'bar');
    const ask = async () => (await program.get(`/rates/historical?symbols=XAU&date=${OLD_DATE}`, key)).status;
    table.damage();
    await eventually(async () => (await ask()) === 503, 60_000);
    const noticedMs = await healthBecomes(program, 503, ['ledger.corrupt']);
    await alarmIsPosted(receiver, 'ledger.corrupt');
    const statuses = new Set<number>();
    for (let i = 0; i < requests; i++) statuses.add(await ask());
    environment.holds([...statuses].join() === '503', `requests were answered with ${[...statuses].join()}`);
    table.repair();
    const clearedMs = await healthBecomes(program, 200, []);
    environment.holds((await ask()) === 200, 'it does not answer after the repair');
    const lines = await holdsOneAlarm(environment, { program, receiver, name: 'ledger.corrupt', from });
    environment.holdsWithin(5_000, noticedMs, 'to notice the damage');
    return {
      tried: `the root page of the table of bars overwritten while the program runs, ${requests} requests that need it`,
      figures: `not ready ${Math.round(noticedMs)} ms after the first failed request; all 503; ready again ${Math.round(clearedMs / 1000)} s after the repair; one alarm and its end; ${lines} lines in the log`,
    };
  },
});
