import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { Failures } from '../gate/failures.ts';
import type { Incoming } from '../http/incoming.ts';
import { refuse } from './errors.ts';

/** Asks for the admin token, wherever it opens something. Wrong ones are counted per address, over all of it. */
export class AdminGuard {
  readonly #token: string | undefined;
  readonly #failures: Failures;

  constructor(token: string | undefined, clock: Clock, failuresPerMinute: number) {
    this.#token = token;
    this.#failures = new Failures(clock, failuresPerMinute);
  }

  /** Who has used up the minute is refused with the right token too: else guessing could go on. */
  require(request: Incoming, address: () => string): void {
    if (this.#failures.areTooMany(address)) {
      throw refuse('rate_limited', { limit: 'too many wrong admin tokens came from your address' }, 60);
    }
    const sent = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
    if (this.#token && sent && sameSecret(sent, this.#token)) return;
    this.#failures.add(address());
    throw refuse('invalid_admin_token', {});
  }
}

/** Compared as hashes in constant time, so that neither content nor length can be felt out. */
function sameSecret(a: string, b: string): boolean {
  const hash = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
