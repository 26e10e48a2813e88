import type { ReadyAnswer } from './cached-answer.ts';

/** A response whose head is ready, and whose body is built on request. */
export class DeferredAnswer {
  /** Its head, which answers HEAD and 304. It has no body. */
  readonly head: ReadyAnswer;
  /** Builds the whole response; its body also in gzip, if that is wanted. */
  readonly build: (wantsGzip: boolean) => Promise<ReadyAnswer>;

  constructor(head: ReadyAnswer, build: (wantsGzip: boolean) => Promise<ReadyAnswer>) {
    this.head = head;
    this.build = build;
  }
}
