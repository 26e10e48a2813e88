import { afterEach, describe, expect, test } from 'bun:test';
import { ENGINES, newFolder, newLedgerUrl } from '../../support/ledger.ts';
import { load } from '../../support/load.ts';
import { eventually, openpit, Program } from '../../support/program.ts';
import { Replicas } from '../../support/replication/replicas.ts';

const BURST = 40;
const PATH = '/usage'; // free, but limited like every request with a key
const LOAD_MS = 4_000;
const ACCURACY = 1.2;
/** Far more requests than the plan allows, without competing for the cores. */
const PAUSE_MS = 20;

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function newKey(settings: Record<string, string>): Promise<string> {
  await openpit(['plan', 'set', 'limited', '--quota', '1000000', '--burst', String(BURST)], settings);
  const made = await openpit(['account', 'create', '--name', 'A', '--plan', 'limited', '--json'], settings);
  return (JSON.parse(made.stdout) as { key: string }).key;
}

/** The number of admitted requests, and of one-second windows that fit into the time. */
async function loaded(urls: readonly string[], key: string) {
  const stop = new AbortController();
  const start = performance.now();
  const loads = urls.map((url) =>
    load({ url: url + PATH, key, connections: 12, until: stop.signal, pauseMs: PAUSE_MS }),
  );
  await Bun.sleep(LOAD_MS);
  stop.abort();
  const results = await Promise.all(loads);
  const windows = Math.floor((performance.now() - start) / 1_000) + 1;
  const allowed = results.reduce((sum, { statuses }) => sum + (statuses.get(200) ?? 0), 0);
  const refused = results.reduce((sum, { statuses }) => sum + (statuses.get(429) ?? 0), 0);
  return { allowed, refused, windows };
}

describe.each(ENGINES)('four processes on one port, on %s', (engine) => {
  test('admit what the plan of an account allows in total, even over a single connection', async () => {
    const settings: Record<string, string> = {
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_DEMO: 'false',
      OPENPIT_PROCESSES: '4',
    };
    if (engine === 'postgres') settings.OPENPIT_DATABASE_URL = await newLedgerUrl(engine);
    const key = await newKey(settings);
    const program = await Program.start(settings);
    endings.push(() => program.end('SIGTERM'));
    const { allowed, refused, windows } = await loaded([program.url], key);
    expect(refused).toBeGreaterThan(0);
    expect(allowed).toBeLessThanOrEqual(ACCURACY * BURST * windows);
    expect(allowed).toBeGreaterThanOrEqual((BURST * (windows - 2)) / ACCURACY);
    const alone = await newKey(settings);
    const single = await load({ url: program.url + PATH, key: alone, connections: 1, requests: BURST });
    expect(single.statuses.get(200)).toBe(BURST);
  }, 180_000);
});

test('three replicas with separate data folders divide the limit among them', async () => {
  const replicas = new Replicas(await newLedgerUrl('postgres'), 3);
  endings.push(() => replicas.end());
  await replicas.start();
  const key = await newKey(replicas.settings);
  // Each replica learns of the others with its next heartbeat.
  await eventually(async () => {
    const { allowed, windows } = await loaded(replicas.urls, key);
    return allowed <= ACCURACY * BURST * windows && allowed >= (BURST * (windows - 2)) / ACCURACY;
  });
}, 180_000);
