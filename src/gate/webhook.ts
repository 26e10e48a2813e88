import type { Clock } from '../runtime/clock.ts';
import { Counters } from '../runtime/metrics/counters.ts';

const TIMEOUT_MS = 10_000;

/**
 * Posts events, signed according to standardwebhooks.com, so that receivers can use an existing library:
 *     webhook-signature: v1,base64(HMAC-SHA256(secret, id.timestamp.body))
 * An event that is sent again has the same id.
 */
export class Webhook {
  readonly #url: string;
  readonly #secret: string;
  readonly #clock: Clock;
  /** By `outcome`. */
  readonly posts = new Counters(['outcome="delivered"', 'outcome="failed"']);

  constructor(url: string, secret: string, clock: Clock) {
    this.#url = url;
    this.#secret = secret;
    this.#clock = clock;
  }

  /** Throws when the receiver does not answer with a 2xx in time, or when `signal` gives up. */
  async send(id: string, event: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<void> {
    try {
      await this.#post(id, event, signal);
      this.posts.add('outcome="delivered"');
    } catch (error) {
      this.posts.add('outcome="failed"');
      throw error;
    }
  }

  async #post(id: string, event: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<void> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const body = JSON.stringify(event);
    const timestamp = String(Math.floor(this.#clock.now() / 1000));
    const response = await fetch(this.#url, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${sign(this.#secret, `${id}.${timestamp}.${body}`)}`,
      },
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the receiver responded with ${response.status}`);
  }
}

/** A secret is either `whsec_` followed by base64, or any other text, used as it is. */
function sign(secret: string, text: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;
  return new Bun.CryptoHasher('sha256', key).update(text).digest('base64');
}

export function createWebhookSecret(random: (length: number) => Uint8Array): string {
  return `whsec_${Buffer.from(random(24)).toString('base64')}`;
}
