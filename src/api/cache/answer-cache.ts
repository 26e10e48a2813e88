import type { Plan } from '../../ledger/accounts/plans.ts';
import { type BoundedCache, copyText } from '../../runtime/bounded-cache.ts';
import type { PriceEndpoint } from '../model/endpoint.ts';
import type { Format } from '../model/table.ts';
import type { Dialect } from '../versions/dialects.ts';
import { type AnswerSources, AnswerValidity } from './answer-validity.ts';
import type { CachedAnswer } from './cached-answer.ts';

/** How a URL without its API key is read. */
interface ReadUrl {
  readonly endpoint: PriceEndpoint;
  readonly dialect: Dialect;
  /** The format that its path ends in. */
  readonly pathFormat: Format | undefined;
  /** Whether it names a format. If not, `Accept` decides. */
  readonly namesFormat: boolean;
  /** Whether it contains ad hoc formulas. */
  readonly hasFormulas: boolean;
}

/** A URL with cached answers: how it is read, and those answers. */
export interface KnownUrl extends ReadUrl {
  /** The newest answer. Plans differ in delay and limits, and a plan that changes becomes another object. */
  readonly newest: CachedAnswer;
  /** The last answers of the other plans: most URLs have none, so most requests read no list. */
  readonly others: readonly CachedAnswer[];
}

/** Measured overhead of a URL besides its text and answers. */
const URL_BYTES = 200;

const REFUSED_PER_ADMITTED = 16;

/**
 * Caches answers by URL and plan. The API key is not part of the cache key: all customers of a plan share an answer. While the
 * cache has room, it admits a URL on its first request; a full one on the second at the earliest, because many URLs are
 * requested only once. An answer that is no longer current is replaced on the next request for its URL.
 */
export class AnswerCache {
  readonly #urls: BoundedCache<string, KnownUrl>;
  /** URLs that a full cache has refused since it admitted the last one. */
  #refused = 0;

  constructor(urls: BoundedCache<string, KnownUrl>) {
    this.#urls = urls;
  }

  find(url: string): KnownUrl | undefined {
    return this.#urls.get(url);
  }

  /** Caches an answer if its URL is known or admitted. Other answers can be sent once. */
  keep(url: string, read: ReadUrl, answer: CachedAnswer, sources: AnswerSources): void {
    const known = this.#urls.get(url);
    if (!known && !this.#admits(url)) return;
    answer.retain(new AnswerValidity(sources));
    const others = known ? otherAnswers(known, answer, sources.now) : NONE;
    // A copy of the URL: a slice would keep the whole request head in memory.
    const key = known ? url : copyText(url);
    const bytes = others.reduce((sum, other) => sum + other.bytes, URL_BYTES + answer.bytes);
    this.#urls.set(key, { ...read, newest: answer, others }, bytes);
  }

  /**
   * Whether a new URL may be added. A full cache admits few, because each replaces the oldest one: if customers cycle through
   * more URLs than fit, every entry would be evicted before it is requested again.
   */
  #admits(url: string): boolean {
    if (!this.#urls.isNearlyFull) return true;
    if (!this.#urls.admits(url)) return false;
    this.#refused = (this.#refused + 1) % REFUSED_PER_ADMITTED;
    return this.#refused === 0;
  }
}

/** The cached answer for customers of a plan. */
export function answerFor(plan: Plan, { newest, others }: KnownUrl): CachedAnswer | undefined {
  return newest.plan === plan ? newest : others.find((other) => other.plan === plan);
}

const NONE: readonly CachedAnswer[] = [];

/** The answers to keep with a new one: those of other plans that are still current. */
function otherAnswers(
  { newest, others }: KnownUrl,
  { plan }: CachedAnswer,
  now: number,
): readonly CachedAnswer[] {
  const kept = [...others, newest].filter((other) => other.plan !== plan && other.isCurrent(now));
  return kept.length > 0 ? kept : NONE;
}
