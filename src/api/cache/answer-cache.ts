import type { Plan } from '../../ledger/accounts/plans.ts';
import { type BoundedCache, copyText } from '../../runtime/bounded-cache.ts';
import type { PriceEndpoint } from '../model/endpoint.ts';
import type { Dialect } from '../versions/dialects.ts';
import type { CachedAnswer } from './cached-answer.ts';

/** A URL without its API key, requested before in this second: how it is routed, and its answers. */
export interface KnownUrl {
  readonly endpoint: PriceEndpoint;
  readonly dialect: Dialect;
  /** Whether it names a format. If not, `Accept` decides. */
  readonly namesFormat: boolean;
  /** The last answer for each plan: plans differ in delay and limits. A plan that changes becomes another object. */
  readonly answers: Map<Plan, CachedAnswer>;
}

/** What a URL takes beside its text and its answers, measured. */
const URL_BYTES = 400;

/**
 * The answers of the current second, by what is asked and by plan. Who asks is no part of the key: all customers of a plan
 * share an answer. A URL is admitted on its second request within the second, because most of what ten thousand customers
 * ask for is asked once a second or less, and no answer is valid for longer.
 */
export class AnswerCache {
  readonly #urls: BoundedCache<string, KnownUrl>;
  #second = 0;

  constructor(urls: BoundedCache<string, KnownUrl>) {
    this.#urls = urls;
  }

  find(url: string, now: number): KnownUrl | undefined {
    const second = secondOf(now);
    if (second !== this.#second) {
      this.#second = second;
      this.#urls.clear();
    }
    return this.#urls.get(url);
  }

  /** Caches an answer from the second request for its URL on. Other answers can be sent once. */
  keep(url: string, read: Omit<KnownUrl, 'answers'>, plan: Plan, answer: CachedAnswer): void {
    if (secondOf(answer.madeAt) !== this.#second || !this.#urls.admits(url)) return;
    const known = this.#urls.get(url) ?? this.#add(url, read);
    if (!known) return;
    const bytesBefore = known.answers.get(plan)?.bytes ?? 0;
    known.answers.set(plan, answer);
    this.#urls.grow(url, answer.bytes - bytesBefore);
    if (this.#urls.has(url)) answer.retain();
  }

  /** Copies the URL: a slice would keep the whole request head in memory. */
  #add(url: string, read: Omit<KnownUrl, 'answers'>): KnownUrl | undefined {
    const known = { ...read, answers: new Map<Plan, CachedAnswer>() };
    return this.#urls.set(copyText(url), known, URL_BYTES) ? known : undefined;
  }
}

function secondOf(ms: number): number {
  return Math.floor(ms / 1000);
}
