import { webhookSecret } from '../../service/core/secrets.ts';
import { type Command, JSON_FLAG, LEDGER_SETTINGS } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

export const webhookCommand: Command = {
  name: 'webhook secret',
  summary: 'Show the secret that signs webhook events',
  flags: JSON_FLAG,
  settings: [...LEDGER_SETTINGS, 'OPENPIT_WEBHOOK_SECRET'],
  async run({ config, withLedger, isSet }) {
    const secret = await withLedger(async (ledger) => {
      await ledger.audit.recordAlone({ action: 'webhook.show-secret', target: 'webhook' });
      return config.webhookSecret ?? webhookSecret(ledger);
    });
    printLine(isSet('json') ? JSON.stringify({ secret }) : secret);
  },
};
