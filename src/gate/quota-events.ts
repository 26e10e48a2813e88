import type { Ledger } from '../ledger/ledger.ts';
import type { QuotaEvent } from '../ledger/quota/events.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';
import type { Webhook } from './webhook.ts';

/** The first attempt may take a minute. Each further one waits twice as long, up to an hour. */
const CLAIM_MS = 60_000;
const CLAIM_MS_MAX = 3_600_000;

/** Reports quota events in the log and to the operator's webhook, each event once, however many replicas there are. */
export class QuotaEventReporter {
  readonly #ledger: Ledger;
  readonly #log: Log;
  readonly #webhook: Webhook | undefined;
  readonly #signal: AbortSignal | undefined;

  /** `signal` gives up posts in progress: they are repeated when their claims expire. */
  constructor(ledger: Ledger, log: Log, webhook: Webhook | undefined, signal?: AbortSignal) {
    this.#ledger = ledger;
    this.#log = log;
    this.#webhook = webhook;
    this.#signal = signal;
  }

  /** Reports the events that no replica has reported. An event that the webhook refuses is left for a later run. */
  async run(): Promise<void> {
    const claimMs = (attempts: number) => Math.min(CLAIM_MS * 2 ** (attempts - 1), CLAIM_MS_MAX);
    const events = await this.#ledger.quota.claimEvents(claimMs);
    await Promise.all(events.map((event) => this.#report(event)));
  }

  async #report(event: QuotaEvent): Promise<void> {
    const { accountId, percent, used, quota, attempts } = event;
    if (attempts === 1) this.#log.info('quota threshold', { accountId, percent, used, quota });
    try {
      const body = {
        type: 'quota.threshold',
        account: accountId,
        month: `${Math.floor(event.period / 100)}-${String(event.period % 100).padStart(2, '0')}`,
        percent,
        used,
        quota,
        at: new Date(event.at).toISOString(),
      };
      await this.#webhook?.send(`${accountId}.${event.period}.${percent}.${quota}`, body, this.#signal);
      await this.#ledger.quota.eventSent(event, await this.#ledger.quota.now());
    } catch (error) {
      this.#log.warn('webhook failed, will be retried', {
        accountId,
        percent,
        attempts,
        message: messageOf(error),
      });
    }
  }
}
