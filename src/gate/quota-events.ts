import type { Ledger } from '../ledger/ledger.ts';
import type { QuotaEvent } from '../ledger/quota/quota.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';
import type { Webhook } from './webhook.ts';

/** The first try may take a minute; each further one is put off for twice as long, up to an hour. */
const CLAIM_MS = 60_000;
const CLAIM_MS_MAX = 3_600_000;

/** Tells what happened to quotas: in the log, and to the operator's webhook. Each event once, whatever the number of replicas. */
export class QuotaEventReporter {
  readonly #ledger: Ledger;
  readonly #log: Log;
  readonly #webhook: Webhook | undefined;

  constructor(ledger: Ledger, log: Log, webhook: Webhook | undefined) {
    this.#ledger = ledger;
    this.#log = log;
    this.#webhook = webhook;
  }

  /** Tells what nobody has told yet. What the webhook does not take stays for a later turn. */
  async run(): Promise<void> {
    const claimMs = (attempts: number) => Math.min(CLAIM_MS * 2 ** (attempts - 1), CLAIM_MS_MAX);
    const events = await this.#ledger.quota.claimEvents(claimMs);
    await Promise.all(events.map((event) => this.#tell(event)));
  }

  async #tell(event: QuotaEvent): Promise<void> {
    const { accountId, percent, used, quota, attempts } = event;
    if (attempts === 1) this.#log.info('quota threshold', { accountId, percent, used, quota });
    try {
      await this.#webhook?.send(`${accountId}.${event.period}.${percent}`, {
        type: 'quota.threshold',
        account: accountId,
        month: `${Math.floor(event.period / 100)}-${String(event.period % 100).padStart(2, '0')}`,
        percent,
        used,
        quota,
        at: new Date(event.at).toISOString(),
      });
      await this.#ledger.quota.eventSent(event, await this.#ledger.quota.now());
    } catch (error) {
      this.#log.warn('webhook failed, and is tried again', {
        accountId,
        percent,
        attempts,
        message: messageOf(error),
      });
    }
  }
}
