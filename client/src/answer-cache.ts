const ENTRIES_MAX = 64;
const BYTES_MAX = 262_144;

/** An answer and its tag. */
export interface CachedBody {
  etag: string;
  /** With its media type, which a 304 lacks. */
  body: Blob;
}

/** Caches the last answers by URL, so that a repeated request is free while nothing has changed. The oldest are evicted first. */
export class AnswerCache {
  readonly #answers = new Map<string, CachedBody>();

  get(url: string): CachedBody | undefined {
    return this.#answers.get(url);
  }

  set(url: string, etag: string | null, body: Blob): void {
    this.#answers.delete(url);
    if (etag === null || body.size > BYTES_MAX) return;
    this.#answers.set(url, { etag, body });
    if (this.#answers.size > ENTRIES_MAX) this.#answers.delete(this.#answers.keys().next().value!);
  }
}
