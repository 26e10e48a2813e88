/** Answers must not wait for longer than this. */
const TURN_MS = 3;

let endsAt = Number.NEGATIVE_INFINITY;
const waiting: (() => void)[] = [];

/**
 * Long work on the thread that answers requests, done in turns: `if (turns.isOver) await turns.next();` between its parts. Each
 * turn of the event loop has room for one, whosever it is: two works that go on at once would else add up to a pause.
 */
export const turns = {
  get isOver(): boolean {
    return performance.now() > endsAt;
  },

  /** Lets requests be answered. */
  next(): Promise<void> {
    if (waiting.length === 0) setImmediate(begin);
    return new Promise((resolve) => waiting.push(resolve));
  },
};

function begin(): void {
  endsAt = performance.now() + TURN_MS;
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(begin);
}
