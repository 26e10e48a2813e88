import type { Plan } from '../../ledger/accounts/plans.ts';
import { type BoundedCache, copyText, textBytes } from '../../runtime/bounded-cache.ts';
import type { PriceEndpoint } from '../model/endpoint.ts';
import type { CachedAnswer } from './cached-answer.ts';

/** What is known of a URL that was asked before: it is not read twice. */
export interface KnownUrl {
  readonly endpoint: PriceEndpoint;
  /** The key that the URL itself carries. */
  readonly key: string | undefined;
  /** Whether it names a format; else `Accept` may ask for another than JSON. */
  readonly namesFormat: boolean;
  /** The last answer for each plan. Plans differ in their delay and limits; a plan that is changed is another object. */
  readonly answers: Map<Plan, CachedAnswer>;
}

/** What a known URL takes beside its text and its answers, measured. */
const URL_BYTES = 400;

/** Answers of URLs that were asked more than once, first in, first out. */
export class AnswerCache {
  readonly #urls: BoundedCache<string, KnownUrl>;

  constructor(urls: BoundedCache<string, KnownUrl>) {
    this.#urls = urls;
  }

  find(url: string): KnownUrl | undefined {
    return this.#urls.get(url);
  }

  /** Caches an answer from the second request for its URL on. Other answers can be sent once. */
  keep(url: string, read: Omit<KnownUrl, 'answers'>, plan: Plan, answer: CachedAnswer): void {
    if (!this.#urls.admits(url)) return;
    const known = this.#urls.get(url) ?? this.#add(url, read);
    if (!known) return;
    const bytesBefore = known.answers.get(plan)?.bytes ?? 0;
    known.answers.set(plan, answer);
    this.#urls.grow(url, answer.bytes - bytesBefore);
    if (this.#urls.has(url)) answer.retain();
  }

  /** The text of a URL is a part of its request's head, and would keep all of it in memory. */
  #add(text: string, read: Omit<KnownUrl, 'answers'>): KnownUrl | undefined {
    const url = copyText(text);
    const key = read.key === undefined ? undefined : copyText(read.key);
    const known = { ...read, key, answers: new Map<Plan, CachedAnswer>() };
    return this.#urls.set(url, known, URL_BYTES + (key === undefined ? 0 : textBytes(key)))
      ? known
      : undefined;
  }
}
