import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { hostname } from 'node:os';
import { SQL } from 'bun';
import { readConfig } from '../../../src/config.ts';
import { checkStandbys } from '../../../src/doctor/checks/hosts.ts';
import { inspectLedger } from '../../../src/doctor/checks/ledger.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { loadFixture } from '../../schemas/fixture.ts';
import { hasPgbouncer, Pgbouncer } from '../../support/database/pgbouncer.ts';
import { newFolder } from '../../support/ledger.ts';
import { Doctor } from '../../support/monitoring/doctor.ts';
import { newDatabase } from '../../support/postgres.ts';
import { eventually, openpit } from '../../support/program.ts';
import { ReplicatedPostgres } from '../../support/replication/replicated-postgres.ts';
import { WallClock } from '../../support/wall-clock.ts';

setDefaultTimeout(180_000);

const ROLE = `doctor_${process.pid}`;
let url: string;
const doctorOn = (databaseUrl: string, more: Record<string, string> = {}) =>
  Doctor.run({ OPENPIT_DATABASE_URL: databaseUrl, OPENPIT_DATA_DIR: newFolder(), ...more });

async function asOwner(...statements: string[]): Promise<void> {
  const owner = new SQL({ url, max: 1 });
  for (const statement of statements) await owner.unsafe(statement);
  await owner.close();
}

beforeAll(async () => {
  url = await newDatabase();
  expect(await openpit(['migrate'], { OPENPIT_DATABASE_URL: url })).toMatchObject({ exitCode: 0 });
  await asOwner(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'choose one'`, `GRANT USAGE ON SCHEMA public TO ${ROLE}`);
});
afterAll(() => asOwner(`DROP OWNED BY ${ROLE}`, `DROP ROLE ${ROLE}`));

test('a ledger or a standby without its tables is named, and the connection to it is closed', async () => {
  const ledger = await Ledger.open(url, systemClock);
  const emptyUrl = await newDatabase();
  const empty = new SQL({ url: emptyUrl, max: 1 });
  const others = async () =>
    (
      await empty`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
    ).length;
  const [finding] = await checkStandbys(ledger, emptyUrl, systemClock);
  expect(finding!.message).toContain('cannot be read');
  await eventually(async () => (await others()) === 0, 5_000);
  await openpit(['migrate'], { OPENPIT_DATABASE_URL: emptyUrl });
  await empty`DROP TABLE key_use`;
  const { findings } = await inspectLedger(readConfig({ OPENPIT_DATABASE_URL: emptyUrl }, {}), systemClock);
  expect(findings.at(-1)!.message).toContain('"key_use" does not exist');
  await eventually(async () => (await others()) === 0, 5_000);
  await empty.close();
  await ledger.close();
});

test('a healthy ledger has no problem', async () => {
  const doctor = await doctorOn(url);
  expect(doctor.exitCode).toBe(0);
  for (const check of ['reachable', 'schema', 'version', 'privileges', 'connections'])
    expect(doctor.of(`ledger.${check}`)).toEqual([expect.stringMatching(/^ok/)]);
  expect(doctor.of('ledger.connections')[0]).toContain(
    'up to 16 of 297 connections for 1 process with 1 data folder',
  );
  expect(doctor.of('clock.database')[0]).toMatch(/^ok/);
});

test('an unreachable server, a wrong password and a wrong database are distinguished, without printing the password', async () => {
  const away = new URL(url);
  away.port = '1';
  expect((await doctorOn(away.href)).of('ledger.reachable')[0]).toMatch(
    /^problem: PostgreSQL at 127\.0\.0\.1:1 cannot be used: .* → start PostgreSQL/,
  );
  const wrong = new URL(url);
  wrong.password = 'hunter2hunter2';
  const refused = await doctorOn(wrong.href);
  expect(refused.of('ledger.reachable')[0]).toMatch(/^problem: .* → correct user and password/);
  expect(refused.output).not.toContain('hunter2');
  const other = new URL(url);
  other.pathname = '/no_such_database';
  expect((await doctorOn(other.href)).of('ledger.reachable')[0]).toMatch(
    /^problem: .* → create the database/,
  );
});

test('an empty database and an outdated ledger are warnings, and are not changed', async () => {
  const empty = await newDatabase();
  expect((await doctorOn(empty)).of('ledger.schema')[0]).toMatch(
    /^warning: the database holds no ledger yet/,
  );
  const handle = new SQL({ url: empty, max: 1 });
  const [row] = await handle`SELECT to_regclass('migration') AS found`;
  expect(row.found).toBeNull();
  await handle.close();
  const old = await loadFixture(9, 'postgres');
  expect((await doctorOn(old)).of('ledger.schema')[0]).toMatch(/^warning: the ledger has schema 9/);
});

test('missing privileges are named, with the statement that grants them', async () => {
  const restricted = new URL(url);
  restricted.username = ROLE;
  restricted.password = encodeURIComponent('choose one');
  expect((await doctorOn(restricted.href)).of('ledger.privileges')[0]).toMatch(
    /^problem: .*permission denied/,
  );
  await asOwner(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${ROLE}`);
  const reader = await doctorOn(restricted.href);
  expect(reader.exitCode).toBe(1);
  expect(reader.of('ledger.privileges')[0]).toMatch(
    /^problem: doctor_\d+ lacks privileges on .*\(INSERT, UPDATE, DELETE\).* → as the owner: GRANT/,
  );
  await asOwner(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${ROLE}`);
  expect((await doctorOn(restricted.href)).of('ledger.privileges')[0]).toMatch(/^ok/);
});

test('too many processes for the connections of the server, or of the user, are a problem', async () => {
  const many = await doctorOn(url, { OPENPIT_PROCESSES: '40' });
  expect(many.of('ledger.connections')[0]).toMatch(
    /^problem: up to 484 connections for 40 processes with 1 data folder,/,
  );
  await asOwner(
    `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${ROLE}`,
    `ALTER ROLE ${ROLE} CONNECTION LIMIT 12`,
  );
  const limited = new URL(url);
  limited.username = ROLE;
  limited.password = encodeURIComponent('choose one');
  expect((await doctorOn(limited.href)).of('ledger.connections')[0]).toMatch(
    /^problem: .*PostgreSQL allows 12/,
  );
});

test('the connections of all running processes are counted, including several on one machine', async () => {
  const ledger = await Ledger.open(url, systemClock);
  for (let i = 0; i < 20; i++) {
    await ledger.replicas.beat({
      id: `r${i}`,
      name: `${hostname()}/${i}`,
      version: '1',
      phase: 'ready',
      revision: 1,
    });
    await ledger.machines.record(`folder ${i}`);
  }
  const doctor = await doctorOn(url);
  for (let i = 0; i < 20; i++) await ledger.replicas.leave(`r${i}`);
  await ledger.engine.write(async (tx) => void (await tx`DELETE FROM meta WHERE name LIKE 'machine %'`));
  await ledger.close();
  expect(doctor.of('ledger.connections')[0]).toMatch(
    /^problem: up to 320 connections for 20 processes with 20 data folders,/,
  );
});

test('a read-only database is a problem', async () => {
  const name = new URL(url).pathname.slice(1);
  await asOwner(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  const doctor = await doctorOn(url);
  await asOwner(
    `SET default_transaction_read_only = off`,
    `ALTER DATABASE ${name} RESET default_transaction_read_only`,
  );
  expect(doctor.of('ledger.writable')[0]).toMatch(/^problem: the database .* is set to read-only/);
  expect((await doctorOn(url)).of('ledger.writable')).toEqual([]);
});

test('a standby is a problem, and with both hosts in the URL the primary is inspected', async () => {
  const servers = await ReplicatedPostgres.start('synchronous');
  try {
    expect(await openpit(['migrate'], { OPENPIT_DATABASE_URL: servers.url })).toMatchObject({ exitCode: 0 });
    const standby = servers.standby.url;
    await eventually(async () => (await doctorOn(standby)).of('ledger.schema')[0]!.startsWith('ok'));
    expect((await doctorOn(standby)).of('ledger.writable')[0]).toMatch(/^problem: this server is a standby/);
    const both = await doctorOn(servers.url, { OPENPIT_READ_URL: standby });
    expect(both.of('ledger.writable')).toEqual([]);
    expect(both.of('ledger.read_url')[0]).toMatch(/^ok/);
    const other = await doctorOn(servers.url, { OPENPIT_READ_URL: url });
    expect(other.of('ledger.read_url')[0]).toMatch(
      /^problem: \S+ of OPENPIT_READ_URL has a different ledger/,
    );
    const away = await doctorOn(servers.url, { OPENPIT_READ_URL: 'postgres://u:secret@127.0.0.1:1/x' });
    expect(away.of('ledger.read_url')[0]).toMatch(
      /^warning: the standby \S+ of OPENPIT_READ_URL cannot be read/,
    );
  } finally {
    await servers.remove();
  }
});

test.skipIf(!hasPgbouncer)(
  'a pooler is recognized, and its connections are not counted as ours',
  async () => {
    const pooler = await Pgbouncer.start(url, 5);
    const doctor = await doctorOn(pooler.through(url), { OPENPIT_PROCESSES: '40' });
    await pooler.stop();
    expect(doctor.of('ledger.connections')).toEqual([
      'ok: connections go through a pooler in transaction mode',
    ]);
    expect(doctor.of('ledger.privileges')[0]).toMatch(/^ok/);
  },
);

const lacks = WallClock.lacks();
test.skipIf(lacks !== undefined)('a clock that differs from the database’s is a warning', async () => {
  const clock = new WallClock();
  clock.setByMs = 90_000;
  const doctor = await doctorOn(url, clock.settings);
  expect(doctor.of('clock.database')[0]).toMatch(
    /^warning: this machine’s clock is (89|90|91)\.\d s ahead of the database’s/,
  );
});
