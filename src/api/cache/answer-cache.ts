import type { Plan } from '../../ledger/accounts/plans.ts';
import { type BoundedCache, copyText, textBytes } from '../../runtime/bounded-cache.ts';
import type { PriceEndpoint } from '../model/endpoint.ts';
import type { CachedAnswer } from './cached-answer.ts';

/** A URL that was requested before: how it is routed, and its answers. */
export interface KnownUrl {
  readonly endpoint: PriceEndpoint;
  /** The API key in the URL. */
  readonly key: string | undefined;
  /** Whether it names a format. If not, `Accept` decides. */
  readonly namesFormat: boolean;
  /** The last answer for each plan: plans differ in delay and limits. A plan that changes becomes another object. */
  readonly answers: Map<Plan, CachedAnswer>;
}

/** What a URL takes beside its text and its answers, measured. */
const URL_BYTES = 400;

/** FIFO cache of answers by URL and plan; a URL is admitted on its second request. */
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

  /** Copies the URL: a slice would keep the whole request head in memory. */
  #add(text: string, read: Omit<KnownUrl, 'answers'>): KnownUrl | undefined {
    const url = copyText(text);
    const key = read.key === undefined ? undefined : copyText(read.key);
    const known = { ...read, key, answers: new Map<Plan, CachedAnswer>() };
    return this.#urls.set(url, known, URL_BYTES + (key === undefined ? 0 : textBytes(key)))
      ? known
      : undefined;
  }
}
