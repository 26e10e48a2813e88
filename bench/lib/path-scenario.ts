/**
 * One kind of work, done a number of times under `bun test --coverage`; see ../path.ts. The service listens on a real socket;
 * what normally runs in the feeds' thread runs in this one, so that its lines are counted, too.
 */
import { test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../src/cli/cli.ts';
import { openTestService } from '../../test/support/service.ts';

const { PATH_SCENARIO: scenario = '', PATH_TIMES = '1' } = process.env;
const times = Number(PATH_TIMES);
const TOKEN = 'a-token-for-the-operator';

const SCENARIOS: Readonly<Record<string, () => Promise<void>>> = {
  cached: () =>
    repeatRequest(() => '/rates/time-series?symbols=XAU,XAG&startDate=2024-05-01&endDate=2024-05-14'),
  uncached: () =>
    repeatRequest((i) => `/rates/time-series?symbols=XAU,XAG&startDate=2024-05-01&endDate=2024-05-14&_=${i}`),
  tick: pushTicks,
  import: importRows,
};

test(scenario, async () => SCENARIOS[scenario]!(), 120_000);

/** The same connection serves all requests. The first fifty fill the caches. */
async function repeatRequest(path: (i: number) => string): Promise<void> {
  const service = await openTestService('sqlite', { logLevel: 'warn' });
  const days = Array.from({ length: 14 }, (_, i) => `2024-05-${String(i + 1).padStart(2, '0')}`);
  for (const code of ['XAU', 'XAG'])
    await service.publish(code, Object.fromEntries(days.map((day) => [day, 2000])));
  const key = await service.key();
  await service.core.follow();
  for (let i = 0; i < 50 + times; i++) {
    const response = await service.get(path(i), key);
    await response.text();
    if (response.status !== 200) throw new Error(`${path(i)}: ${response.status}`);
  }
  await service.close();
}

/** One tick per request; the service follows its ledger after each. */
async function pushTicks(): Promise<void> {
  const service = await openTestService('sqlite', {
    logLevel: 'warn',
    settings: { OPENPIT_ADMIN_TOKEN: TOKEN },
  });
  for (let i = 0; i < 20 + times; i++) {
    const at = new Date(service.clock.time - 60_000 + i).toISOString();
    const body = JSON.stringify({ source: 'own', ticks: [{ symbol: 'XAU', price: 2000 + i / 100, at }] });
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const response = await service.get('/admin/ticks', undefined, { method: 'POST', headers, body });
    if (response.status !== 200) throw new Error(await response.text());
    await service.core.follow();
  }
  await service.close();
}

async function importRows(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'openpit-path-'));
  const file = join(folder, 'bars.csv');
  const days = Array.from({ length: 20 + times }, (_, i) =>
    new Date(Date.UTC(2020, 0, 1 + i)).toISOString().slice(0, 10),
  );
  await Bun.write(
    file,
    `date,close\n${days.map((day, i) => `${day},${(2000 + i / 10).toFixed(1)}`).join('\n')}\n`,
  );
  const code = await runCli(['import', file, '--symbol', 'XAU', '--source', 'own', '--data-dir', folder]);
  if (code !== 0) throw new Error(`the import ended with ${code}`);
}
