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
}

/** A URL that was requested more than once: how it is read, and its answers. */
export interface KnownUrl extends ReadUrl {
  /** The last answer of each plan: plans differ in delay and limits. A plan that changes becomes another object. */
  answers: readonly CachedAnswer[];
}

/** What a URL takes beside its text and its answers, measured. */
const URL_BYTES = 200;

/**
 * Answers by what is asked and by plan. Who asks is no part of the key: all customers of a plan share an answer. A URL is
 * admitted on its second request, because many are asked once. An answer that is no longer current is replaced when its URL is
 * asked again.
 */
export class AnswerCache {
  readonly #urls: BoundedCache<string, KnownUrl>;

  constructor(urls: BoundedCache<string, KnownUrl>) {
    this.#urls = urls;
  }

  find(url: string): KnownUrl | undefined {
    return this.#urls.get(url);
  }

  /** Caches an answer from the second request for its URL on. Other answers can be sent once. */
  keep(url: string, read: ReadUrl, answer: CachedAnswer, sources: AnswerSources): void {
    if (!this.#urls.admits(url)) return;
    const known = this.#urls.get(url) ?? this.#add(url, read);
    if (!known) return;
    answer.retain(new AnswerValidity(sources));
    const before = known.answers;
    const others = before.filter((other) => other.plan !== answer.plan && other.isCurrent(sources.now));
    known.answers = [...others, answer];
    this.#urls.grow(url, sizeOf(known.answers) - sizeOf(before));
  }

  /** Copies the URL: a slice would keep the whole request head in memory. */
  #add(url: string, { endpoint, dialect, pathFormat, namesFormat }: ReadUrl): KnownUrl | undefined {
    const known = { endpoint, dialect, pathFormat, namesFormat, answers: [] };
    return this.#urls.set(copyText(url), known, URL_BYTES) ? known : undefined;
  }
}

/** The cached answer for customers of a plan. */
export function answerFor(plan: Plan, { answers }: KnownUrl): CachedAnswer | undefined {
  for (const answer of answers) if (answer.plan === plan) return answer;
  return undefined;
}

function sizeOf(answers: readonly CachedAnswer[]): number {
  let bytes = 0;
  for (const answer of answers) bytes += answer.bytes;
  return bytes;
}
