import { systemClock } from '../clock.ts';
import { hashKey, isWellFormed, secureRandom } from '../gate/key.ts';
import { issueKey } from '../gate/onboarding.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Command, JSON_FLAG, LEDGER_SETTINGS, withLedger } from './command.ts';

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    summary: 'Create another key for an account; it is shown once',
    flags: { account: { value: 'ID', help: 'the account' }, ...JSON_FLAG },
    settings: LEDGER_SETTINGS,
    async run({ config, required, isSet }) {
      const account = required('account');
      await withLedger(config, async (ledger) => {
        const { text, key } = await issueKey(ledger, account, {}, systemClock.now(), secureRandom);
        if (isSet('json')) return console.log(JSON.stringify({ account, key: text, keyId: key.id }));
        console.log(`Key ${key.id} of ${account}, shown this once: ${text}`);
      });
    },
  },
  {
    name: 'key revoke',
    operands: ['KEY'],
    summary: 'Revoke a key, by its id or by the key itself; every replica refuses it within a second',
    flags: JSON_FLAG,
    settings: LEDGER_SETTINGS,
    async run({ config, operands, isSet }) {
      await withLedger(config, async (ledger) => {
        const id = await keyId(ledger, operands[0]!);
        if (id === undefined || !(await ledger.accounts.revokeKey(id, systemClock.now()))) {
          throw new Error('there is no such key; give its id (key_…) or the key itself');
        }
        if (isSet('json')) return console.log(JSON.stringify({ keyId: id, revoked: true }));
        console.log(`Key ${id} is revoked.`);
      });
    },
  },
];

async function keyId(ledger: Ledger, given: string): Promise<string | undefined> {
  if (!isWellFormed(given)) return given;
  return (await ledger.accounts.byKeyHash(hashKey(given)))?.key.id;
}
