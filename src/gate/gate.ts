import { isActive } from '../ledger/accounts/keys.ts';
import type { Ledger, LedgerHead } from '../ledger/ledger.ts';
import type { BoundedCache } from '../runtime/bounded-cache.ts';
import type { Clock } from '../runtime/clock.ts';
import type { BurstLimits } from './burst/burst-limits.ts';
import type { Customer, KnownKey } from './directory/customer.ts';
import { Directory } from './directory/directory.ts';
import { FailedAttempts } from './failed-attempts.ts';
import { isWellFormed } from './key.ts';
import type { RateWindow } from './rate-window.ts';

export interface GateOptions {
  ledger: Ledger;
  clock: Clock;
  burst: BurstLimits;
  failedKeysPerMinute: number;
  /** Whether the page gives the key of the public account to everybody. If not, its keys are refused. */
  isPublic?: boolean | undefined;
  /** Memory for cached keys. */
  keyBytesMax?: number;
  /** The rate windows of addresses that send wrong keys. */
  failedKeys?: BoundedCache<string, RateWindow>;
}

/** How a request identifies itself. `address` is called only when it matters. */
export interface PresentedKey {
  key: string;
  inUrl: boolean;
  address(): string;
}

/** Why a key is refused, whatever was sent before. */
type RefusedKey =
  | { ok: false; code: 'invalid_key' | 'account_suspended' }
  | { ok: false; code: 'key_not_allowed'; why: 'address' | 'url' | 'closed' };

export type Admission =
  | KnownKey
  | RefusedKey
  | { ok: false; code: 'failed_keys'; retryAfterMs: number }
  | { ok: false; code: 'rate_limited'; customer: Customer };

/** Decides which requests are admitted: by key, account, address and burst limit. */
export class Gate {
  readonly directory: Directory;
  readonly #clock: Clock;
  readonly #failures: FailedAttempts;
  readonly #burst: BurstLimits;

  private constructor(options: GateOptions, directory: Directory) {
    this.directory = directory;
    this.#clock = options.clock;
    this.#burst = options.burst;
    this.#failures = new FailedAttempts(options.clock, options.failedKeysPerMinute, options.failedKeys);
  }

  static async open(options: GateOptions): Promise<Gate> {
    const { ledger, isPublic, keyBytesMax: bytesMax } = options;
    return new Gate(options, await Directory.open({ ledger, isPublic, bytesMax }));
  }

  /** Returns a promise only on a key's first use, unless the key was preloaded. A valid key is admitted however many wrong ones came from its address. */
  admit(presented: PresentedKey, now = this.#clock.now()): Admission | Promise<Admission> {
    const known = this.directory.cached(presented.key);
    if (known) return this.#check(known, presented, now);
    if (!isWellFormed(presented.key)) return this.#fail(presented);
    const preloaded = this.directory.takePreloaded(presented.key);
    if (preloaded) return this.#check(preloaded, presented, now);
    return this.directory
      .lookUp(presented.key, this.#failures.isOverLimit(presented.address))
      .then((found) => (found ? this.#check(found, presented, this.#clock.now()) : this.#fail(presented)));
  }

  /** Whether a connection that was admitted with a key may continue. Does not count towards the burst limit. */
  async recheck(presented: PresentedKey): Promise<KnownKey | RefusedKey> {
    const { key } = presented;
    const known = this.directory.cached(key) ?? (await this.directory.lookUp(key));
    return known ? (refusalOf(known, presented, this.#clock.now()) ?? known) : INVALID_KEY;
  }

  /** Drops what has changed in the ledger. Returns the accounts whose plan may have changed. */
  follow(head: LedgerHead): Promise<string[]> {
    return this.directory.follow(head);
  }

  #check(known: KnownKey, presented: PresentedKey, now: number): Admission {
    const refusal = refusalOf(known, presented, now);
    if (refusal) return refusal.code === 'invalid_key' ? this.#fail(presented) : refusal;
    const { customer } = known;
    if (!this.#isWithinBurst(customer, presented, now)) return { ok: false, code: 'rate_limited', customer };
    return known;
  }

  #isWithinBurst(customer: Customer, presented: PresentedKey, now: number): boolean {
    const { plan, visitors } = customer;
    if (visitors) return visitors.admit(presented.address(), now, plan.burstPerSecond);
    return this.#burst.take(customer, now, plan.burstPerSecond);
  }

  #fail(presented: PresentedKey): Admission {
    const retryAfterMs = this.#failures.add(presented.address());
    return retryAfterMs === 0 ? INVALID_KEY : { ok: false, code: 'failed_keys', retryAfterMs };
  }
}

const INVALID_KEY = { ok: false, code: 'invalid_key' } as const;

const REFUSED_ACCOUNTS = {
  suspended: { ok: false, code: 'account_suspended' },
  closed: { ok: false, code: 'key_not_allowed', why: 'closed' },
} as const;

/** Checks the state of a key and its account, and the rules of the key. */
function refusalOf(known: KnownKey, presented: PresentedKey, now: number): RefusedKey | undefined {
  const { allowed, customer, headerOnly } = known;
  if (!isActive(known, now)) return INVALID_KEY;
  if (customer.status !== 'active') return REFUSED_ACCOUNTS[customer.status];
  if (headerOnly && presented.inUrl) return { ok: false, code: 'key_not_allowed', why: 'url' };
  if (allowed && !allowed.has(presented.address()))
    return { ok: false, code: 'key_not_allowed', why: 'address' };
  return undefined;
}
