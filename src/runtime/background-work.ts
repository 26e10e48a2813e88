/** Answers must not wait for longer than this. */
const TURN_MS = 3;

/** A count of the turns of the event loop in which work was done, and when the work of this one must end. */
let turn = 0;
let endsAt = Number.NEGATIVE_INFINITY;
const waiting: (() => void)[] = [];

/**
 * Long work on the thread that answers requests, done in turns: `if (turns.isOver) await turns.next();` between its parts. All such
 * works share the time of a turn, one after the other, whoever waits longest first: together they would else be a pause.
 *
 *     event loop   │ requests │ work A │ work B │ requests │ work C ……… │ requests │ work A …
 *                             └────── 3 ms ─────┘          └─── 3 ms ───┘
 */
export const turns = {
  get isOver(): boolean {
    return performance.now() > endsAt;
  },

  /** Lets requests be answered. */
  next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    callNext();
    return promise;
  },
};

/** Has the first of those who wait go on in the next turn of the event loop, or in a later one if its time is used up by then. */
function callNext(): void {
  const own = turn + 1;
  setImmediate(() => {
    if (turn < own) {
      turn = own;
      endsAt = performance.now() + TURN_MS;
    } else if (turns.isOver) {
      callNext();
      return;
    }
    waiting.shift()!();
  });
}
