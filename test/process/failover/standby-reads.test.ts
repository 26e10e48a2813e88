import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { parseDay } from '../../../src/market/day.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { newFolder } from '../../support/ledger.ts';
import { newDatabase } from '../../support/postgres.ts';
import { eventually, openpit, Program } from '../../support/program.ts';
import { ADMIN_TOKEN } from '../../support/replication/replicas.ts';
import { ReplicatedPostgres } from '../../support/replication/replicated-postgres.ts';

const HOUR_MS = 3_600_000;
const SOON_MS = 30_000;
const FIRST = parseDay('2004-01-01')!;
const DAYS = 7_000;

describe('requests about the past with a standby', () => {
  let postgres: ReplicatedPostgres;
  let ledger: Ledger;
  let program: Program;
  /** Reads only from the primary. */
  let reference: Program;
  let key: string;
  /** What was recorded when, in ms: two versions of every day. */
  const [firstVersionAt, secondVersionAt] = [Date.now() - 6 * HOUR_MS, Date.now() - 4 * HOUR_MS];
  const early = new Date(firstVersionAt + HOUR_MS).toISOString();
  const late = new Date(secondVersionAt + HOUR_MS).toISOString();

  beforeAll(async () => {
    postgres = await ReplicatedPostgres.start('asynchronous');
    const settings = {
      OPENPIT_DATABASE_URL: postgres.url,
      OPENPIT_DEMO: 'false',
      OPENPIT_ADMIN_TOKEN: ADMIN_TOKEN,
    };
    ledger = await Ledger.open(postgres.url, systemClock);
    await publish(1_000, firstVersionAt, DAYS);
    await publish(2_000, secondVersionAt, DAYS);
    const commands = { ...settings, OPENPIT_DATA_DIR: newFolder() };
    const limits = ['--quota', '1000000', '--burst', '100000', '--delay-seconds', '0'];
    await run(commands, 'plan', 'set', 'past', ...limits);
    key = JSON.parse(await run(commands, 'account', 'create', '--name', 'A', '--plan', 'past', '--json')).key;
    reference = await Program.start({ ...settings, OPENPIT_DATA_DIR: newFolder() });
    program = await Program.start({
      ...settings,
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_READ_URL: postgres.standby.url,
    });
  }, 180_000);
  afterAll(async () => {
    await Promise.all([program, reference].map((one) => one?.end('SIGKILL')));
    await ledger.close();
    await postgres.remove();
  });

  /** Waits until the standby is used again: after a failure it is skipped for some seconds. */
  beforeEach(async () => {
    await postgres.standby.query('SELECT pg_wal_replay_resume()');
    await postgres.caughtUp();
    await eventually(async () => (await serverOf(historyAsOf(early))) === 'standby', SOON_MS);
  }, 180_000);

  async function run(settings: Record<string, string>, ...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await openpit(args, settings);
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  }

  async function publish(price: number, recordedAt: number, days: number): Promise<void> {
    const symbolId = (await ledger.symbols.list()).find(({ code }) => code === 'XAU')!.id;
    const bars = Array.from({ length: days }, (_, i) => {
      const close = price + (i % 100);
      return { symbolId, day: FIRST + i, open: close, high: close, low: close, close };
    });
    await ledger.bars.publish(bars, { source: 'test', recordedAt });
  }

  const historyAsOf = (moment: string) =>
    `/rates/history?symbols=XAU&startDate=2004-01-01&endDate=2004-02-01&asOf=${moment}`;
  const REVISIONS = '/rates/revisions?symbols=XAU&startDate=2004-01-01&endDate=2004-01-03';

  async function ask(path: string, from = program): Promise<string> {
    const response = await from.get(path, key);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}: ${text}`);
    return text;
  }

  async function reads(): Promise<Record<'primary' | 'standby', number>> {
    const metrics = await program.metrics(ADMIN_TOKEN);
    const count = (server: string) =>
      Number(new RegExp(`openpit_past_reads_total{server="${server}"} (\\d+)`).exec(metrics)?.[1]);
    return { primary: count('primary'), standby: count('standby') };
  }

  /** The server that a request is read from. */
  async function serverOf(path: string): Promise<string> {
    const before = await reads();
    await ask(path);
    const after = await reads();
    return after.standby > before.standby ? 'standby' : after.primary > before.primary ? 'primary' : 'none';
  }

  /** Corrects the first day by a push to the program, and returns when that was confirmed. */
  async function correct(close: number): Promise<string> {
    const response = await fetch(`${program.url}/admin/bars?source=desk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify([
        { symbol: 'XAU', date: '2004-01-01', open: close, high: close, low: close, close },
      ]),
    });
    expect(await response.text()).toContain('"corrected":1');
    return new Date().toISOString();
  }

  test('are read from it, and the responses are those of the primary', async () => {
    for (const path of [
      historyAsOf(early),
      historyAsOf(late),
      REVISIONS,
      `${historyAsOf(late)}&format=csv`,
    ]) {
      await eventually(async () => (await serverOf(path)) === 'standby', SOON_MS);
      expect(await ask(path)).toBe(await ask(path, reference));
    }
    expect(await ask(historyAsOf(early))).toContain('1000');
    expect(await ask(historyAsOf(late))).toContain('2000');
  }, 180_000);

  test('have the same entity tag from either server', async () => {
    const tags = await Promise.all(
      [program, reference].map(async (one) => (await one.get(historyAsOf(early), key)).headers.get('etag')),
    );
    expect(tags[0]).toBe(tags[1]!);
  });

  test('show what was just confirmed while the standby has stopped replaying; it still serves old moments', async () => {
    await postgres.standby.query('SELECT pg_wal_replay_pause()');
    const at = await correct(2_101);
    expect(await serverOf(REVISIONS)).toBe('primary');
    expect(await ask(REVISIONS)).toContain('2101');
    expect(await serverOf(historyAsOf(at))).toBe('primary');
    expect(await ask(historyAsOf(at))).toContain('2101');
    expect(await serverOf(historyAsOf(early))).toBe('standby');
    await postgres.standby.query('SELECT pg_wal_replay_resume()');
    await eventually(async () => (await serverOf(REVISIONS)) === 'standby', SOON_MS);
    expect(await ask(REVISIONS)).toContain('2101');
  }, 180_000);

  test('always show what was confirmed the moment before', async () => {
    for (let close = 2_102; close < 2_122; close++) {
      await correct(close);
      expect(await ask(REVISIONS)).toContain(String(close));
    }
  }, 180_000);

  test('about a symbol that the standby does not know yet are answered by the primary', async () => {
    await postgres.standby.query('SELECT pg_wal_replay_pause()');
    const [template] = await ledger.symbols.list();
    await ledger.symbols.upsert([{ ...template!, code: 'NEWCODE', name: 'New' }], []);
    const path = historyAsOf(early).replace('XAU', 'XAU,NEWCODE');
    for (const server of [program, reference]) {
      await eventually(async () => (await server.get(path, key)).status === 200, SOON_MS);
    }
    expect(await ask(path)).toBe(await ask(path, reference));
    await postgres.standby.query('SELECT pg_wal_replay_resume()');
  }, 180_000);

  test('are answered by the primary when the standby is killed, also in the middle of a long table', async () => {
    const path = `/rates/history?symbols=XAU&startDate=2004-01-01&endDate=2023-12-31&asOf=${early}&format=csv`;
    const expected = await ask(path, reference);
    expect(expected.trimEnd().split('\n')).toHaveLength(1 + DAYS);
    for (let round = 0; round < 3; round++) {
      await eventually(async () => (await serverOf(historyAsOf(early))) === 'standby', SOON_MS);
      const tables = Promise.all(Array.from({ length: 6 }, () => ask(path)));
      await postgres.standby.end('SIGKILL');
      for (const table of await tables) expect(table).toBe(expected);
      expect(await ask(historyAsOf(early))).toContain('1000');
      expect(await ask(REVISIONS)).toBe(await ask(REVISIONS, reference));
      await postgres.standby.start();
    }
  }, 180_000);

  test('are answered by the primary when the standby hangs', async () => {
    postgres.standby.pause();
    try {
      expect(await ask(historyAsOf(early))).toContain('1000');
      expect(await ask(REVISIONS)).toBe(await ask(REVISIONS, reference));
    } finally {
      postgres.standby.resume();
    }
  }, 180_000);

  test('never come from a database that is not a standby of this ledger', async () => {
    const other = await Program.start({
      OPENPIT_DATABASE_URL: postgres.url,
      OPENPIT_DEMO: 'false',
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_READ_URL: await anotherLedger(),
    });
    try {
      expect(await ask(historyAsOf(early), other)).toBe(await ask(historyAsOf(early), reference));
      expect(await other.metrics()).toContain('openpit_past_reads_total{server="standby"} 0');
    } finally {
      await other.end();
    }
  }, 180_000);

  async function anotherLedger(): Promise<string> {
    const url = await newDatabase();
    await (await Ledger.open(url, systemClock)).close();
    return url;
  }
});
