import { afterAll, beforeAll, expect, test } from 'bun:test';
import { outageReason } from '../../../src/ledger/engine/errors.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { fixedClock } from '../../support/ledgers.ts';
import { ReplicatedPostgres } from '../../support/replication/replicated-postgres.ts';

let postgres: ReplicatedPostgres;
let ledger: Ledger;
beforeAll(async () => {
  postgres = await ReplicatedPostgres.start('synchronous');
  ledger = await Ledger.open(postgres.url, fixedClock, 'serving');
}, 180_000);
afterAll(async () => {
  await ledger.close();
  await postgres.remove();
});

test('a write that no synchronous standby has confirmed is never reported as done', async () => {
  postgres.standby.pause();
  const outcome = await ledger.setMeta('unconfirmed', 'yes').then(
    () => 'done',
    (error) => outageReason(error),
  );
  expect(outcome).toBe('its ledger cannot be reached');
  postgres.standby.resume();
}, 180_000);

test('what was acknowledged is there after the primary was killed at once', async () => {
  for (let i = 0; i < 50; i++) await ledger.setMeta(`written ${i}`, 'yes');
  await postgres.primary.end('SIGKILL');
  await postgres.promote();
  for (let i = 0; i < 50; i++) expect(await ledger.meta(`written ${i}`)).toBe('yes');
}, 180_000);
