import type { Outbox } from './outbox.ts';

/** The outboxes of a server that have something to send. They are emptied when the event loop's turn is over. */
export class Postbag {
  #waiting: Outbox[] = [];

  add(outbox: Outbox): void {
    this.#waiting.push(outbox);
    if (this.#waiting.length === 1) setImmediate(this.#post);
  }

  readonly #post = (): void => {
    const all = this.#waiting;
    this.#waiting = [];
    for (const outbox of all) outbox.post();
  };
}
