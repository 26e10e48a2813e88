import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { SQL } from 'bun';
import { loadFixture } from '../../schemas/fixture.ts';
import { newFolder } from '../../support/ledger.ts';
import { newDatabase } from '../../support/postgres.ts';
import { openpit, Program } from '../../support/program.ts';

setDefaultTimeout(180_000);

/** The statements of the manual, for a role of this test. */
const manual = await Bun.file(join(import.meta.dir, '../../../docs/operating.md')).text();
const ROLE = `service_${process.pid}`;
const statements = [
  ...manual.matchAll(/^ {4}((?:CREATE ROLE|GRANT|ALTER DEFAULT).*openpit_service.*;)$/gm),
].map(([, statement]) => statement!.replace('openpit_service', ROLE));

let url: string;
let restricted: string;
beforeAll(async () => {
  url = await newDatabase();
  expect(await openpit(['migrate'], { OPENPIT_DATABASE_URL: url })).toMatchObject({ exitCode: 0 });
  restricted = await grant(url, statements);
});
afterAll(async () => {
  const owner = new SQL({ url, max: 1 });
  await owner.unsafe(`DROP OWNED BY ${ROLE}`);
  await owner.close();
});

test('the manual lists the statements that grant the privileges', () => {
  expect(statements.map((statement) => statement.split(' ')[0])).toEqual([
    'CREATE',
    'GRANT',
    'GRANT',
    'ALTER',
  ]);
});

test('a user with DML privileges can serve, count, accept pushes and imports, and run commands', async () => {
  const token = 'a-long-token-of-the-operator';
  const settings = { OPENPIT_DATABASE_URL: restricted, OPENPIT_DATA_DIR: newFolder() };
  const program = await Program.start({ ...settings, OPENPIT_DEMO: 'true', OPENPIT_ADMIN_TOKEN: token });
  expect((await program.get('/rates/latest?symbols=XAU')).status).toBe(200);
  const revisions = '/rates/revisions?symbols=XAU&date=2024-05-14'; // read by a reader thread
  expect((await program.get(revisions)).status).toBe(200);
  const push = await fetch(`${program.url}/admin/ticks?source=desk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify([{ symbol: 'XAU', price: 2358, at: new Date().toISOString() }]),
  });
  expect(await push.json()).toMatchObject({ accepted: 1 });
  const file = join(newFolder(), 'gold.csv');
  const rows = Array.from({ length: 200 }, (_, i) => {
    const date = new Date(Date.UTC(2010, 0, 1) + i * 86_400_000).toISOString().slice(0, 10);
    return `${date},${1_100 + (i % 9)}`;
  });
  await Bun.write(file, `date,close\n${rows.join('\n')}\n`); // enough rows for COPY
  for (const command of [
    ['import', file, '--symbol', 'XAU'],
    ['account', 'create', '--name', 'New', '--plan', 'pro'],
    ['migrate'],
    ['check'],
  ]) {
    const { exitCode, stderr } = await openpit(command, settings);
    expect({ command, exitCode, stderr }).toEqual({ command, exitCode: 0, stderr: '' });
  }
  expect(await program.end()).toBe(0);
  expect(program.stderr).not.toContain('permission denied');
});

test('on an outdated ledger such a user is told that its owner has to migrate', async () => {
  const old = await loadFixture(9, 'postgres');
  const service = await grant(old, statements.slice(1));
  for (const command of ['serve', 'migrate']) {
    const { exitCode, stderr } = await openpit([command], {
      OPENPIT_DATABASE_URL: service,
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_PORT: '0',
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('run "openpit migrate" as the user who owns it');
  }
});

/** Runs statements as the owner, and returns the URL of the role. */
async function grant(database: string, grants: readonly string[]): Promise<string> {
  const owner = new SQL({ url: database, max: 1 });
  for (const statement of grants) await owner.unsafe(statement);
  await owner.close();
  const service = new URL(database);
  service.username = ROLE;
  service.password = encodeURIComponent('choose one');
  return service.href;
}

test('without all privileges the service does not become ready, and commands say where they are listed', async () => {
  const owner = new SQL({ url, max: 1 });
  await owner.unsafe(`REVOKE INSERT, UPDATE ON quota_lease, plan FROM ${ROLE}`);
  const settings = { OPENPIT_DATABASE_URL: restricted, OPENPIT_DATA_DIR: newFolder(), OPENPIT_PORT: '0' };
  const [served, changed] = [
    await openpit(['serve'], settings),
    await openpit(['plan', 'set', 'gold', '--quota', '5'], settings),
  ];
  await owner.unsafe(`GRANT INSERT, UPDATE ON quota_lease, plan TO ${ROLE}`);
  await owner.close();
  expect(served.exitCode).toBe(1);
  expect(served.stderr).toContain('lacks privileges on the table plan (INSERT, UPDATE) and on 1 other');
  expect(served.stderr).not.toContain('"ready"');
  expect(changed.exitCode).toBe(1);
  for (const { stderr } of [served, changed]) expect(stderr).toContain('Database privileges');
});
