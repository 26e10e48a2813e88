import type { Config } from '../../config.ts';
import { secureRandom } from '../../gate/key.ts';
import { createWebhookSecret, Webhook } from '../../gate/webhook.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Clock } from '../../runtime/clock.ts';

// Secrets that every replica shares are created once and stored in the ledger.

/** The key of the entity tags. */
export function etagSecret(ledger: Ledger): Promise<string> {
  return ledger.metaOnce('etag-secret', () => Buffer.from(secureRandom(32)).toString('hex'));
}

/** The operator's webhook, signed with the configured secret or else with the ledger's. */
export async function openWebhook(
  config: Config,
  ledger: Ledger,
  clock: Clock,
): Promise<Webhook | undefined> {
  if (config.webhookUrl === undefined) return undefined;
  const secret = config.webhookSecret ?? (await webhookSecret(ledger));
  return new Webhook(config.webhookUrl, secret, clock);
}

export function webhookSecret(ledger: Ledger): Promise<string> {
  return ledger.metaOnce('webhook-secret', () => createWebhookSecret(secureRandom));
}
