import { afterEach, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { isPostgresSound } from '../../../src/ledger/inspection/postgres-integrity.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { newFolder } from '../../support/ledger.ts';
import { ownPostgres } from '../../support/postgres.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** The file with the rows of a table. Its pages have been written to disk. */
async function fileOf(url: string, table: string): Promise<string> {
  const sql = new SQL(url, { max: 1 });
  const [{ folder, path }] = await sql`SELECT current_setting('data_directory') AS folder,
    pg_relation_filepath(${table}) AS path`;
  await sql.unsafe('CHECKPOINT');
  await sql.close();
  return join(folder, path);
}

test('a damaged page of PostgreSQL causes 503 and an alarm, and both end when it is repaired', async () => {
  const postgres = await ownPostgres();
  endings.push(() => postgres.remove());
  const settings = {
    OPENPIT_DATABASE_URL: postgres.url,
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DEMO: 'false',
  };
  const file = join(newFolder(), 'prices.csv');
  writeFileSync(file, 'date,close\n2024-05-13,2336\n2024-05-14,2358\n2024-05-15,2386\n');
  await openpit(['import', file, '--symbol', 'XAU', '--source', 'desk'], settings);
  const created = await openpit(['account', 'create', '--name', 'A', '--plan', 'pro', '--json'], settings);
  const { key } = JSON.parse(created.stdout);
  const program = await Program.start(settings);
  endings.push(() => program.end('SIGKILL'));
  const ask = async () => program.get('/rates/historical?symbols=XAU&date=2024-05-15', key);

  const path = await fileOf(postgres.url, 'bar');
  await postgres.stop(); // its cache would hide the damage
  const sound = readFileSync(path);
  writeFileSync(path, Buffer.alloc(sound.length, 0xa5));
  await postgres.start();
  await eventually(async () => (await program.get('/health')).status === 200);

  const damaged = await ask();
  expect({ status: damaged.status, body: await damaged.json() }).toMatchObject({
    status: 503,
    body: { code: 'unavailable', message: expect.stringContaining('damaged') },
  });
  const isAlarmed = async () => (await program.metrics()).includes('alarm="ledger.corrupt"');
  await eventually(isAlarmed);
  expect((await program.get('/health')).status).toBe(503);
  const past = await program.get('/rates/revisions?symbols=XAU&date=2024-05-15', key);
  expect(past.status).toBe(503);
  expect(await isPostgresSound(postgres.url, systemClock)).toBe(false);

  await postgres.stop();
  writeFileSync(path, sound);
  await postgres.start();
  await eventually(() => isPostgresSound(postgres.url, systemClock).catch(() => false));
  await eventually(async () => !(await isAlarmed()) && (await program.get('/health')).status === 200, 60_000);
  expect(await (await ask()).json()).toMatchObject({ rates: { XAU: { close: 2386 } } });
}, 180_000);
