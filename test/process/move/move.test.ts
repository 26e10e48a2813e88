import { afterEach, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { newFolder, newLedgerUrl } from '../../support/ledger.ts';
import { eventually, openpit, Program, spawnOpenpit } from '../../support/program.ts';

const TIMEOUT_MS = 120_000;

let program: Program | undefined;
afterEach(async () => {
  await program?.end('SIGKILL');
  program = undefined;
});

/** A ledger with prices, an account and counted requests, whose service has been stopped. */
async function usedLedger(): Promise<{ settings: Record<string, string>; key: string }> {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  const file = join(settings.OPENPIT_DATA_DIR, 'gold.csv');
  await Bun.write(
    file,
    'date,open,high,low,close\n2024-05-13,2361.2,2364.5,2332.1,2336.1\n2024-05-14,1,3,1,2.5\n',
  );
  expect(await openpit(['import', file, '--symbol', 'XAU', '--accept'], settings)).toMatchObject({
    exitCode: 0,
  });
  const created = await openpit(['account', 'create', '--name', 'A', '--plan', 'pro', '--json'], settings);
  const { key } = JSON.parse(created.stdout);
  program = await Program.start(settings);
  await answersOf(program, key);
  return { settings, key };
}

const PATHS = [
  '/rates/time-series?symbols=XAU&startDate=2024-05-01&endDate=2024-05-20',
  '/rates/historical?symbols=XAU&date=2024-05-14',
  '/rates/revisions?symbols=XAU&date=2024-05-14',
  '/usage',
];

/** What customers see. Three of the paths cost a unit each. */
async function answersOf(served: Program, key: string): Promise<unknown[]> {
  const answers = [];
  for (const path of PATHS) answers.push(await (await served.get(path, key)).json());
  return answers;
}

async function stop(): Promise<void> {
  await program?.end();
  program = undefined;
}

test(
  'after a move to PostgreSQL and back, prices, keys and counts are what they were',
  async () => {
    const { settings, key } = await usedLedger();
    const running = await openpit(['move', '--to', await newLedgerUrl('postgres')], settings);
    expect(running).toMatchObject({ exitCode: 1 });
    expect(running.stderr).toContain('stop it');
    const before = await answersOf(program!, key);
    await stop();

    const postgres = await newLedgerUrl('postgres');
    const there = await openpit(['move', '--to', postgres], settings);
    expect(there).toMatchObject({ exitCode: 0 });
    expect(there.stdout).toMatch(/^ {2}bar +\d+ +[0-9a-f]{16}$/m);
    const onPostgres = { ...settings, OPENPIT_DATABASE_URL: postgres };
    expect(await openpit(['check'], onPostgres)).toMatchObject({ exitCode: 0 });
    program = await Program.start(onPostgres);
    const usage = await (await program.get('/usage', key)).json();
    expect(usage).toEqual(before.at(-1));
    const after = await answersOf(program, key);
    expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
    const counted = after.at(-1);
    await stop();

    const file = join(newFolder(), 'back', 'openpit.db');
    const back = await openpit(['move', '--to', file, '--json'], onPostgres);
    expect(back).toMatchObject({ exitCode: 0 });
    const { tables } = JSON.parse(back.stdout) as { tables: { name: string; rows: number }[] };
    expect(tables.find(({ name }) => name === 'bar')!.rows).toBeGreaterThan(0);
    const onSqlite = { ...settings, OPENPIT_DATABASE_URL: `sqlite://${file}` };
    expect(await openpit(['check'], onSqlite)).toMatchObject({ exitCode: 0 });
    program = await Program.start(onSqlite);
    expect(await (await program.get('/usage', key)).json()).toEqual(counted);
    expect((await answersOf(program, key)).slice(0, -1)).toEqual(before.slice(0, -1));
  },
  TIMEOUT_MS,
);

test(
  'a move that is killed goes on when it is started again',
  async () => {
    const { settings } = await usedLedger();
    await stop();
    const source = new SQL({ adapter: 'sqlite', filename: join(settings.OPENPIT_DATA_DIR!, 'openpit.db') });
    await source.unsafe(`INSERT INTO bar (symbol_id, day, revision, open, high, low, close, source_id, recorded_at)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
    SELECT 2 + i / 40000, i % 40000, 1, i * 0.1, i * 0.3, i * 0.07, i / 7.0, 1, i FROM n`);
    await source.close();

    for (const target of [await newLedgerUrl('postgres'), join(newFolder(), 'openpit.db')]) {
      const child = spawnOpenpit(['move', '--to', target], settings);
      await eventually(async () => (await movedTable(target)) === 'bar');
      child.kill('SIGKILL');
      await child.exited;
      expect(child.signalCode).toBe('SIGKILL');
      const half = {
        ...settings,
        OPENPIT_DATABASE_URL: target.startsWith('/') ? `sqlite://${target}` : target,
      };
      expect((await openpit(['plan', 'list'], half)).stderr).toContain('unfinished');

      const again = await openpit(['move', '--to', target], settings);
      expect(again).toMatchObject({ exitCode: 0 });
      expect(again.stderr).toContain('continuing an interrupted move at the table bar');
      expect(await openpit(['check'], half)).toMatchObject({ exitCode: 0 });
    }
  },
  TIMEOUT_MS,
);

/** The table that a move into this target is at. */
async function movedTable(target: string): Promise<string | undefined> {
  if (target.startsWith('/') && !existsSync(target)) return undefined;
  const sql = target.startsWith('/')
    ? new SQL({ adapter: 'sqlite', filename: target, readonly: true })
    : new SQL(target, { max: 1 });
  try {
    const [row] = await sql`SELECT value FROM meta WHERE name = 'move'`;
    return row && JSON.parse(row.value).table;
  } catch {
    return undefined; // no table yet, or a busy file
  } finally {
    await sql.close();
  }
}

test(
  'counts that a killed service left in its spool keep the ledger from being moved, until they are settled',
  async () => {
    const { settings, key } = await usedLedger();
    await program!.end('SIGKILL');
    const target = join(newFolder(), 'openpit.db');
    const refused = await openpit(['move', '--to', target], settings);
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.stderr).toMatch(/holds counts of 1 lease that are not in the ledger/);
    expect(existsSync(target)).toBe(false);

    program = await Program.start(settings);
    const { used } = (await (await program.get('/usage', key)).json()) as { used: number };
    expect(used).toBe(3);
    await stop();
    const killedAgo = async (ms: number) => {
      const ledger = new SQL({ adapter: 'sqlite', filename: join(settings.OPENPIT_DATA_DIR!, 'openpit.db') });
      await ledger`UPDATE replica SET seen = ${Date.now() - ms}`;
      await ledger.close();
    };
    await killedAgo(-60_000); // however long this machine takes, less than 15 s have passed
    const { stderr } = await openpit(['move', '--to', target], settings);
    expect(stderr).toContain('counts as running for 15 s');
    await killedAgo(15_000);
    expect(await openpit(['move', '--to', target], settings)).toMatchObject({ exitCode: 0 });
  },
  TIMEOUT_MS,
);

test('a target that is neither PostgreSQL nor SQLite, or cannot be reached or created, is refused', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder() };
  expect(await openpit(['migrate'], settings)).toMatchObject({ exitCode: 0 });
  for (const target of ['mysql://localhost/x', 'postgres:/localhost/x', 'sqlite:']) {
    const { exitCode, stderr } = await openpit(['move', '--to', target], settings);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('postgres:// or sqlite://')]);
  }
  const folder = newFolder();
  const file = join(folder, 'notes.txt');
  await Bun.write(file, '');
  const said = async (target: string) => (await openpit(['move', '--to', target], settings)).stderr;
  expect(await said(folder)).toBe(`openpit: ${folder} is a folder; add the name of a file\n`);
  for (const target of [join(file, 'a.db'), join(file, 'none', 'a.db')]) {
    expect(await said(target)).toBe(`openpit: ${file} is not a folder; choose another place\n`);
  }
  const away = await openpit(['move', '--to', 'postgres://127.0.0.1:1/x'], settings);
  expect([away.exitCode, away.stderr]).toEqual([1, expect.stringContaining('the target (--to) cannot be')]);
});
