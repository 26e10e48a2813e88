import { secureRandom } from '../../gate/key.ts';
import { createWebhookSecret } from '../../gate/webhook.ts';
import { type Command, JSON_FLAG, LEDGER_SETTINGS } from '../framework/command.ts';

export const webhookCommand: Command = {
  name: 'webhook secret',
  summary: 'Show the secret that signs webhook posts',
  flags: JSON_FLAG,
  settings: [...LEDGER_SETTINGS, 'OPENPIT_WEBHOOK_SECRET'],
  async run({ config, withLedger, isSet }) {
    const make = () => createWebhookSecret(secureRandom);
    const secret =
      config.webhookSecret ?? (await withLedger((ledger) => ledger.metaOnce('webhook-secret', make)));
    console.log(isSet('json') ? JSON.stringify({ secret }) : secret);
  },
};
