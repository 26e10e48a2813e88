import type { CachedAnswer } from './cached-answer.ts';

/** A response whose head is ready, and whose body is built on request. */
export class DeferredAnswer {
  /** Its head, which answers HEAD and 304. It has no body. */
  readonly head: CachedAnswer;
  /** Builds the whole response, its body also in gzip if `wantsGzip`. */
  readonly build: (wantsGzip: boolean) => Promise<CachedAnswer>;

  constructor(head: CachedAnswer, build: (wantsGzip: boolean) => Promise<CachedAnswer>) {
    this.head = head;
    this.build = build;
  }
}
