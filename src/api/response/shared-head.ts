import type { Bytes } from '../../http/message/buffer-pool.ts';
import { dateText, firstLines, headerLines } from '../../http/message/serialize.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import { CACHE_CONTROL, type Finality } from '../model/answer.ts';
import { COMMON_HEADERS, planPolicy, visitorPolicy } from './headers.ts';

const DATE = 'Date: ';

/**
 * The first part of a head, which all successes with the same limits share. Only the date differs, and is rewritten once a second:
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

/** The shared heads of a policy and a finality, by status. */
class SharedHeads {
  readonly 200: SharedHead;
  readonly 206: SharedHead;
  readonly 304: SharedHead;

  constructor(policy: string, finality: Finality) {
    const lines = headerLines({
      ...COMMON_HEADERS,
      'Cache-Control': CACHE_CONTROL[finality],
      'RateLimit-Policy': policy,
    });
    this[200] = new SharedHead(200, lines);
    this[206] = new SharedHead(206, lines);
    this[304] = new SharedHead(304, lines);
  }
}

/** The shared heads of a plan and a finality. Visitors to the page share answers with the plan's customers, not limits. */
export interface PlanHeads {
  readonly customers: SharedHeads;
  readonly visitors: SharedHeads;
}

const headsOfPlans = new WeakMap<Plan, Partial<Record<Finality, PlanHeads>>>();

/** A changed plan is a new object. */
export function sharedHeads(plan: Plan, finality: Finality): PlanHeads {
  let heads = headsOfPlans.get(plan);
  if (!heads) {
    heads = {};
    headsOfPlans.set(plan, heads);
  }
  heads[finality] ??= {
    customers: new SharedHeads(planPolicy(plan), finality),
    visitors: new SharedHeads(visitorPolicy(plan), finality),
  };
  return heads[finality];
}
