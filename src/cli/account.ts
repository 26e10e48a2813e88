import { systemClock } from '../clock.ts';
import { secureRandom } from '../gate/key.ts';
import { createAccount } from '../gate/onboarding.ts';
import { type Command, JSON_FLAG, LEDGER_SETTINGS, withLedger } from './command.ts';

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    summary: 'Create an account and its first key, which is shown once',
    flags: {
      name: { value: 'NAME', help: 'who it is for' },
      plan: { value: 'PLAN', help: 'one of the plans (openpit plan list)' },
      ...JSON_FLAG,
    },
    settings: LEDGER_SETTINGS,
    async run({ config, required, isSet }) {
      const [name, plan] = [required('name'), required('plan')];
      await withLedger(config, async (ledger) => {
        const { account, issued } = await createAccount(
          ledger,
          { name, plan },
          systemClock.now(),
          secureRandom,
        );
        if (isSet('json')) {
          console.log(
            JSON.stringify({ account: account.id, key: issued.text, keyId: issued.key.id, name, plan }),
          );
          return;
        }
        console.log(`Account ${account.id} (${name}) on the plan ${plan}.`);
        console.log(`Key ${issued.key.id}, shown this once: ${issued.text}`);
      });
    },
  },
];
