import { timingSafeEqual } from 'node:crypto';
import { FailedAttempts } from '../../gate/failed-attempts.ts';
import type { RateWindow } from '../../gate/rate-window.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import type { BoundedCache } from '../../runtime/bounded-cache.ts';
import type { Clock } from '../../runtime/clock.ts';
import { refuse } from '../errors/errors.ts';
import { wrongSecrets } from '../errors/from-gate.ts';

/**
 * Requires the admin token. Wrong tokens are counted per address, for all paths together; the right one always passes,
 * so nobody at the operator's address can lock the operator out. A request without a token is refused and not counted.
 */
export class AdminGuard {
  readonly #token: string | undefined;
  readonly #failures: FailedAttempts;

  constructor(
    token: string | undefined,
    clock: Clock,
    failuresPerMinute: number,
    failedTokens?: BoundedCache<string, RateWindow>,
  ) {
    this.#token = token;
    this.#failures = new FailedAttempts(clock, failuresPerMinute, failedTokens);
  }

  require(request: IncomingRequest, address: () => string): void {
    const sent = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
    if (this.#token === undefined || sent === undefined) throw refuse('invalid_admin_token', {});
    if (sameSecret(sent, this.#token)) return;
    const retryAfterMs = this.#failures.add(address());
    throw retryAfterMs === 0 ? refuse('invalid_admin_token', {}) : wrongSecrets('admin tokens', retryAfterMs);
  }
}

/** Compares hashes in constant time, so that timing reveals neither content nor length. */
function sameSecret(a: string, b: string): boolean {
  const hash = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
