const ENTRIES_MAX = 64;
const CHARACTERS_MAX = 262_144;

/** An answer and its tag. */
export interface CachedBody {
  etag: string;
  text: string;
}

/** The last answers by URL, so that asking again is free while nothing has changed. The oldest go first. */
export class AnswerCache {
  readonly #answers = new Map<string, CachedBody>();

  get(url: string): CachedBody | undefined {
    return this.#answers.get(url);
  }

  set(url: string, etag: string | null, text: string): void {
    this.#answers.delete(url);
    if (etag === null || text.length > CHARACTERS_MAX) return;
    this.#answers.set(url, { etag, text });
    if (this.#answers.size > ENTRIES_MAX) this.#answers.delete(this.#answers.keys().next().value!);
  }
}
