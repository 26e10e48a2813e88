import type { Bytes } from '../../http/message/buffer-pool.ts';
import { dateText, firstLines, headerLines } from '../../http/message/serialize.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import { CACHE_CONTROL, type Finality } from '../model/answer.ts';
import { COMMON_HEADERS, rateLimitPolicy } from './headers.ts';

const DATE = 'Date: ';

/**
 * The first part of a head, which all successes of a plan share. Only the date differs, and is rewritten once a second:
 *
 *     HTTP/1.1 200 OK ⏎ Date: Mon, 16 Nov 2026 12:00:00 GMT ⏎ Access-Control-Allow-Origin: * ⏎ … RateLimit-Policy: … ⏎
 */
export class SharedHead {
  readonly #bytes: Bytes;
  readonly #dateAt: number;
  #second = 0;

  constructor(status: number, lines: string) {
    const text = firstLines(status, 0) + lines;
    this.#bytes = Buffer.from(text, 'latin1') as Bytes;
    this.#dateAt = text.indexOf(DATE) + DATE.length;
  }

  get length(): number {
    return this.#bytes.length;
  }

  write(memory: Bytes, at: number, now: number): void {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#bytes.latin1Write(dateText(now), this.#dateAt);
    }
    this.#bytes.copy(memory, at);
  }
}

/** The shared heads of a plan and a finality, by status. */
export class SharedHeads {
  readonly 200: SharedHead;
  readonly 206: SharedHead;
  readonly 304: SharedHead;

  constructor({ quota, burstPerSecond }: Plan, finality: Finality) {
    const lines = headerLines({
      ...COMMON_HEADERS,
      'Cache-Control': CACHE_CONTROL[finality],
      'RateLimit-Policy': rateLimitPolicy(quota, burstPerSecond),
    });
    this[200] = new SharedHead(200, lines);
    this[206] = new SharedHead(206, lines);
    this[304] = new SharedHead(304, lines);
  }
}

const headsOfPlans = new WeakMap<Plan, Partial<Record<Finality, SharedHeads>>>();

/** A changed plan is a new object. */
export function sharedHeads(plan: Plan, finality: Finality): SharedHeads {
  let heads = headsOfPlans.get(plan);
  if (!heads) {
    heads = {};
    headsOfPlans.set(plan, heads);
  }
  heads[finality] ??= new SharedHeads(plan, finality);
  return heads[finality];
}
