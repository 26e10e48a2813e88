import { afterEach, beforeEach, expect, test } from 'bun:test';
import { outageReason } from '../../../src/ledger/engine/errors.ts';
import { Ledger, mustReload } from '../../../src/ledger/ledger.ts';
import { hasPgbouncer, Pgbouncer } from '../../support/database/pgbouncer.ts';
import { TcpProxy } from '../../support/http/tcp-proxy.ts';
import { newFolder } from '../../support/ledger.ts';
import { fixedClock } from '../../support/ledgers.ts';
import { eventually, openpit } from '../../support/program.ts';
import { ReplicatedPostgres, urlOf } from '../../support/replication/replicated-postgres.ts';

/** Far longer than a search for the primary takes. */
const FOUND_MS_MAX = 30_000;

let postgres: ReplicatedPostgres;
const opened: Ledger[] = [];
beforeEach(async () => {
  postgres = await ReplicatedPostgres.start('asynchronous');
}, 180_000);
afterEach(async () => {
  await Promise.all(opened.splice(0).map((ledger) => ledger.close()));
  await postgres.remove();
});

async function open(url = postgres.url, use: Parameters<typeof Ledger.open>[2] = 'serving'): Promise<Ledger> {
  const ledger = await Ledger.open(url, fixedClock, use);
  opened.push(ledger);
  return ledger;
}

async function failOver(): Promise<void> {
  await postgres.caughtUp();
  await postgres.primary.end('SIGKILL');
  await postgres.promote();
}

/** Writes until it succeeds. */
async function writeEventually(ledger: Ledger, name: string): Promise<void> {
  await eventually(
    () =>
      ledger.setMeta(name, 'written').then(
        () => true,
        (error) => {
          if (outageReason(error) === undefined) throw error;
          return false;
        },
      ),
    FOUND_MS_MAX,
  );
}

async function isOn(server: typeof postgres.primary, name: string): Promise<boolean> {
  return (await server.query(`SELECT 1 FROM meta WHERE name = '${name}'`)).length > 0;
}

test('the primary is found in whichever place it is listed', async () => {
  const ledger = await open(urlOf(postgres.standby, postgres.primary));
  await ledger.setMeta('first', 'written');
  expect(await isOn(postgres.primary, 'first')).toBe(true);
}, 180_000);

test('an open ledger follows the primary to a promoted standby, for reading and for writing', async () => {
  const ledger = await open();
  const reading = await Ledger.openForReading(postgres.url, fixedClock);
  opened.push(reading);
  await ledger.setMeta('before', 'written');
  await failOver();
  expect(await reading.meta('before')).toBe('written'); // the first read is made again, on the new primary
  await writeEventually(ledger, 'after');
  expect(await isOn(postgres.standby, 'after')).toBe(true);
  expect(await reading.meta('after')).toBe('written');
}, 180_000);

test('a write that no server has begun is repeated on the new primary', async () => {
  const ledger = await open();
  await ledger.engine.write((tx) => tx`SELECT 1`);
  await postgres.caughtUp();
  await postgres.primary.end('SIGKILL');
  await postgres.promote();
  await ledger.head(); // notices
  await ledger.setMeta('at once', 'written');
  expect(await isOn(postgres.standby, 'at once')).toBe(true);
}, 180_000);

test('a primary that became a standby is not mistaken for the ledger', async () => {
  const ledger = await open();
  await ledger.setMeta('before', 'written');
  await postgres.caughtUp();
  await postgres.switchOver();
  await writeEventually(ledger, 'after');
  expect(await isOn(postgres.standby, 'after')).toBe(true);
}, 180_000);

test('the roles may change again and again', async () => {
  const ledger = await open();
  const servers = [postgres.primary, postgres.standby] as const;
  for (let round = 0; round < 4; round++) {
    const [from, to] = round % 2 === 0 ? servers : ([servers[1], servers[0]] as const);
    await writeEventually(ledger, `round ${round}`);
    await postgres.caughtUp(from, to); // a standby that has just been made may not be connected yet
    await postgres.switchOver(from, to);
    await writeEventually(ledger, `after ${round}`);
    expect(await isOn(to, `after ${round}`)).toBe(true);
  }
  for (let round = 0; round < 4; round++) expect(await ledger.meta(`round ${round}`)).toBe('written');
}, 180_000);

test('a primary whose machine vanishes without a word is left for the promoted standby', async () => {
  const proxy = await TcpProxy.open(postgres.primary.port);
  try {
    const through = new URL(proxy.through(postgres.primary.url)).host;
    const ledger = await open(postgres.url.replace(postgres.primary.host, through));
    await ledger.setMeta('before', 'written');
    await postgres.caughtUp();
    proxy.swallow = true;
    await postgres.promote();
    await writeEventually(ledger, 'after');
    expect(await isOn(postgres.standby, 'after')).toBe(true);
    proxy.swallow = false; // it is back, and accepts writes
    await writeEventually(ledger, 'later');
    expect(await isOn(postgres.standby, 'later')).toBe(true);
  } finally {
    await proxy.close();
  }
}, 180_000);

test('an old primary that comes back is not written to', async () => {
  const ledger = await open();
  await failOver();
  await writeEventually(ledger, 'after');
  await postgres.primary.start(); // alone, and it accepts writes
  await postgres.primary.query('CREATE TABLE proof (a int)');
  const late = await open();
  await late.setMeta('late', 'written');
  await writeEventually(ledger, 'later');
  expect([await isOn(postgres.standby, 'late'), await isOn(postgres.standby, 'later')]).toEqual([true, true]);
  expect([await isOn(postgres.primary, 'late'), await isOn(postgres.primary, 'later')]).toEqual([
    false,
    false,
  ]);
  await postgres.standby.end('SIGKILL');
  const refused = await ledger.setMeta('nowhere', 'written').catch((error) => outageReason(error));
  expect(refused).toBe('its ledger cannot be reached');
  expect(await isOn(postgres.primary, 'nowhere')).toBe(false);
}, 180_000);

test('a process that is still connected to the old primary leaves it once a standby was promoted', async () => {
  const ledger = await open();
  await ledger.setMeta('before', 'written');
  await postgres.caughtUp();
  await postgres.promote(); // the primary is alive: two servers accept writes now
  await eventually(async () => {
    await writeEventually(ledger, 'after');
    return isOn(postgres.standby, 'after');
  }, FOUND_MS_MAX);
}, 180_000);

test('followers reload after a failover that lost writes, although the counter has passed theirs since', async () => {
  const ledger = await open();
  await postgres.caughtUp();
  await postgres.stopStreaming();
  await addSymbol(ledger, 'lost');
  const before = await ledger.head();
  await postgres.primary.end('SIGKILL');
  await postgres.promote();
  await writeEventually(ledger, 'after');
  while ((await ledger.head()).prices <= before.prices) await addSymbol(ledger, 'kept');
  const head = await ledger.head();
  expect(head.prices).toBeGreaterThan(before.prices);
  expect(mustReload(before, head, 'prices')).toBe(true);
  expect(mustReload(before, head, 'accounts')).toBe(true);
}, 180_000);

test('every command accepts several hosts, and names them without the password when none accepts writes', async () => {
  const settings = { OPENPIT_DATABASE_URL: postgres.url, OPENPIT_DATA_DIR: newFolder() };
  expect((await openpit(['migrate'], settings)).exitCode).toBe(0);
  expect((await openpit(['plan', 'list'], settings)).stdout).toContain('basic');
  await failOver();
  expect((await openpit(['plan', 'list'], settings)).stdout).toContain('basic');
  expect((await openpit(['check'], settings)).exitCode).toBe(0);
  await postgres.standby.end('SIGKILL');
  const { exitCode, stderr } = await openpit(['plan', 'list'], settings);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('no PostgreSQL host accepts writes');
  expect(stderr).toContain(postgres.standby.host);
  expect(stderr).not.toContain('openpit:openpit');
}, 180_000);

test.skipIf(!hasPgbouncer)(
  `the primary is followed through a pooler before each host${hasPgbouncer ? '' : ' (skipped: no PgBouncer)'}`,
  async () => {
    const poolers = [
      await Pgbouncer.start(postgres.primary.url, 5),
      await Pgbouncer.start(postgres.standby.url, 5),
    ];
    try {
      const [one, two] = [
        poolers[0]!.through(postgres.primary.url),
        poolers[1]!.through(postgres.standby.url),
      ];
      const ledger = await open(one.replace('/postgres', `,${new URL(two).host}/postgres`));
      await ledger.setMeta('before', 'written');
      await failOver(); // the pooler in front of the old primary keeps answering
      await writeEventually(ledger, 'after');
      expect(await isOn(postgres.standby, 'after')).toBe(true);
      expect(await ledger.meta('before')).toBe('written');
    } finally {
      for (const pooler of poolers) await pooler.stop();
    }
  },
  120_000,
);

let symbols = 0;
async function addSymbol(ledger: Ledger, name: string): Promise<void> {
  const [template] = await ledger.symbols.list();
  const code = `${name.toUpperCase()}${++symbols}`;
  await ledger.symbols.upsert([{ ...template!, code, name: code }], []);
}
