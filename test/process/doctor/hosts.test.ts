import { afterAll, beforeAll, expect, test } from 'bun:test';
import { newFolder } from '../../support/ledger.ts';
import { Doctor } from '../../support/monitoring/doctor.ts';
import { openpit } from '../../support/program.ts';
import { ReplicatedPostgres, urlOf } from '../../support/replication/replicated-postgres.ts';

let postgres: ReplicatedPostgres;
let settings: Record<string, string>;
beforeAll(async () => {
  postgres = await ReplicatedPostgres.start('asynchronous');
  settings = {
    OPENPIT_DATABASE_URL: postgres.url,
    OPENPIT_READ_URL: urlOf(postgres.standby),
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DEMO: 'false',
  };
  expect((await openpit(['migrate'], settings)).exitCode).toBe(0);
  await postgres.caughtUp();
}, 180_000);
afterAll(() => postgres.remove());

/** Checks the roles before a failover, after it, and with the old primary back, in this order. */
test('the doctor names the role of each host, one that is down, and an old primary that must be stopped', async () => {
  const [one, two] = [postgres.primary.host, postgres.standby.host];
  const before = await Doctor.run(settings);
  expect(before.of('ledger.hosts')).toEqual([`ok: ${one} is the primary`, `ok: ${two} is a standby`]);
  expect(before.of('ledger.read_url')).toEqual([`ok: the standby ${two} of OPENPIT_READ_URL can be read`]);

  await postgres.primary.end('SIGKILL');
  await postgres.promote();
  const after = await Doctor.run(settings);
  expect(after.exitCode).toBe(0);
  expect(after.of('ledger.hosts')[0]).toStartWith(
    `warning: ${one} of OPENPIT_DATABASE_URL cannot be reached`,
  );
  expect(after.of('ledger.hosts')[1]).toBe(`ok: ${two} is the primary`);
  expect(after.of('ledger.read_url')[0]).toStartWith(`warning: ${two} of OPENPIT_READ_URL is not a standby`);

  await postgres.primary.start();
  const split = await Doctor.run(settings);
  expect(split.exitCode).toBe(1);
  expect(split.of('ledger.hosts')[0]).toStartWith(
    `problem: ${one} accepts writes but is no longer the primary`,
  );
}, 180_000);
