import { expect, test } from 'bun:test';
import { fixedClock, ledgersOf, NOW } from '../../../test/support/ledgers.ts';
import { readConfig } from '../../config.ts';
import { hashKey } from '../../gate/key.ts';
import { createLog } from '../../runtime/log/log.ts';
import { GivenKeys } from './given-keys.ts';

const ledgers = ledgersOf('sqlite');

test('a key of the page that was revoked is replaced, also if the ledger fails at first', async () => {
  const ledger = await ledgers.new();
  const config = readConfig({ OPENPIT_PUBLIC_PLAN: 'basic' }, {});
  const events: string[] = [];
  const log = createLog('info', fixedClock, (line) => events.push(JSON.parse(line).event));
  const keys = await GivenKeys.open(config, ledger, fixedClock, false);
  const revoked = keys.publicKey!;
  const found = await ledger.accounts.byKeyHash(hashKey(revoked));
  await ledger.keys.revoke(found!.key.id, NOW);
  const rename = (from: string, to: string) =>
    ledger.engine.write((tx) => tx.unsafe(`ALTER TABLE ${from} RENAME TO ${to}`));
  await rename('api_key', 'hidden');
  await keys.follow(1, log);
  expect(events).toEqual(['the key of the page could not be replaced']);
  await rename('hidden', 'api_key');
  await keys.follow(1, log);
  expect(keys.publicKey).toBeString();
  expect(keys.publicKey).not.toBe(revoked);
  expect(events).toHaveLength(1);
});
