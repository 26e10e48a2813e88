import { SeenBefore } from '../http/seen-before.ts';
import type { Plan } from '../ledger/accounts.ts';
import type { PriceEndpoint } from './endpoint.ts';
import type { ReadyAnswer } from './ready-answer.ts';

/** What is known of a URL that was asked before: it is not read twice. */
export interface KnownUrl {
  readonly endpoint: PriceEndpoint;
  /** The key that the URL itself carries. */
  readonly key: string | undefined;
  /** Whether it names a format; else `Accept` may ask for another than JSON. */
  readonly namesFormat: boolean;
  /** The last answer for each plan. Plans differ in their delay and limits; a plan that is changed is another object. */
  readonly answers: Map<Plan, ReadyAnswer>;
}

const URLS_MAX = 20_000;
const BYTES_MAX = 64 * 1024 * 1024;

/** The answers of URLs that were asked more than once, the oldest going first. */
export class KeptAnswers {
  readonly #urls = new Map<string, KnownUrl>();
  readonly #seen = new SeenBefore();
  #bytes = 0;

  find(url: string): KnownUrl | undefined {
    return this.#urls.get(url);
  }

  /** False when it is not kept. */
  keep(url: string, read: Omit<KnownUrl, 'answers'>, plan: Plan, answer: ReadyAnswer): boolean {
    if (!this.#urls.has(url) && !this.#seen.has(url)) return false;
    const known = this.#urls.getOrInsertComputed(url, () => ({ ...read, answers: new Map() }));
    this.#bytes += answer.bytes - (known.answers.get(plan)?.bytes ?? 0);
    known.answers.set(plan, answer);
    while (this.#urls.size > URLS_MAX || this.#bytes > BYTES_MAX) this.#forgetOldest();
    return true;
  }

  #forgetOldest(): void {
    const [url, { answers }] = this.#urls.entries().next().value!;
    for (const { bytes } of answers.values()) this.#bytes -= bytes;
    this.#urls.delete(url);
  }
}
