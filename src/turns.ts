/** Answers must not wait for longer than this. */
const TURN_MS = 3;

/** Long work on the thread that answers requests, done in turns: `if (turns.isOver) await turns.next();` between its parts. */
export class Turns {
  #endsAt = performance.now() + TURN_MS;

  get isOver(): boolean {
    return performance.now() > this.#endsAt;
  }

  /** Lets requests be answered. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#endsAt = performance.now() + TURN_MS;
  }
}
