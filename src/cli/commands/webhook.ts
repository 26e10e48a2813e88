import { webhookSecret } from '../../service/secrets.ts';
import { type Command, JSON_FLAG, LEDGER_SETTINGS } from '../framework/command.ts';

export const webhookCommand: Command = {
  name: 'webhook secret',
  summary: 'Show the secret that signs webhook events',
  flags: JSON_FLAG,
  settings: [...LEDGER_SETTINGS, 'OPENPIT_WEBHOOK_SECRET'],
  async run({ config, withLedger, isSet }) {
    const secret = config.webhookSecret ?? (await withLedger(webhookSecret));
    console.log(isSet('json') ? JSON.stringify({ secret }) : secret);
  },
};
