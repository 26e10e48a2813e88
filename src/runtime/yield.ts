/** The longest that background work may delay a request. */
const SLICE_MS = 3;

/** Number of the current slice, and when it ends. There is at most one slice per turn of the event loop. */
let slice = 0;
let endsAt = Number.NEGATIVE_INFINITY;
const waiting: (() => void)[] = [];

/**
 * Whether background work on the serving thread has used up its time in this turn of the event loop. Long work calls
 * `if (shouldYield()) await yieldToRequests();` between its steps. All such work shares one slice per turn, FIFO:
 *
 *     event loop   │ requests │ work A │ work B │ requests │ work C ……… │ requests │ work A …
 *                             └────── 3 ms ─────┘          └─── 3 ms ───┘
 */
export function shouldYield(): boolean {
  return performance.now() > endsAt;
}

/** Resolves in a later turn of the event loop, after requests have been handled. */
export function yieldToRequests(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  resumeNext();
  return promise;
}

/** Resumes the first waiting task in the next turn of the event loop, or later if that turn's slice is used up. */
function resumeNext(): void {
  const nextSlice = slice + 1;
  setImmediate(() => {
    if (slice < nextSlice) {
      slice = nextSlice;
      endsAt = performance.now() + SLICE_MS;
    } else if (shouldYield()) {
      resumeNext();
      return;
    }
    waiting.shift()!();
  });
}
