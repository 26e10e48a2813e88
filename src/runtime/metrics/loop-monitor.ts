import { Histogram } from './histogram.ts';

/** Short enough to notice a pause of 20 ms, and still only a hundred wake-ups a second. */
const BEAT_MS = 10;
/** Timers are a few milliseconds late on any busy machine. */
const SLACK_MS = 5;

/**
 * Measures how late the event loop's timers are, and when bytes that are read now arrived.
 *
 * While the loop is blocked, bytes wait in the kernel, and the socket's event says nothing about how long. They arrived after the
 * loop last polled its sockets, so that moment is the earliest they can have arrived:
 *
 *     poll        blocked                      poll
 *     ──┼──────────────────────────────────────┼──► data event
 *       └ lastAliveMs = arrivalMs()             now
 *
 * Requests count the whole pause: an upper bound, because a histogram must not hide a stall.
 */
export class LoopMonitor {
  readonly lag = new Histogram();
  readonly #now: () => number;
  #lastAliveMs: number;
  #dueMs: number;
  #lagMsMax = 0;
  /** The start of a pause that a timer noticed before the sockets were polled again. */
  #pausedSinceMs: number | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#lastAliveMs = now();
    this.#dueMs = this.#lastAliveMs + BEAT_MS;
  }

  start(): void {
    this.#timer = setInterval(() => this.beat(), BEAT_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** When bytes that a socket delivers now arrived, at the earliest, in ms of `performance.now()`. */
  arrivalMs(): number {
    const now = this.#now();
    const since = this.#pausedSinceMs ?? this.#lastAliveMs;
    const isLate = this.#pausedSinceMs !== undefined || now > this.#dueMs + SLACK_MS;
    this.#lastAliveMs = now;
    return isLate ? since : now;
  }

  /** The longest lag since this was last called, in ms. A pause in progress counts too. */
  takeLagMsMax(): number {
    const longest = Math.max(this.#lagMsMax, this.#now() - this.#dueMs, 0);
    this.#lagMsMax = 0;
    return longest;
  }

  /** Called by the timer. */
  beat(): void {
    const now = this.#now();
    const lagMs = Math.max(0, now - this.#dueMs);
    this.lag.add(lagMs);
    this.#lagMsMax = Math.max(this.#lagMsMax, lagMs);
    if (lagMs > SLACK_MS) this.#rememberPause(Math.min(this.#lastAliveMs, this.#dueMs));
    this.#lastAliveMs = now;
    this.#dueMs = now + BEAT_MS;
  }

  /**
   * A timer can run before the sockets are polled again. The event loop runs immediates, polls, then runs timers; so by the
   * second immediate from here, everything that waited has been read.
   */
  #rememberPause(sinceMs: number): void {
    this.#pausedSinceMs = sinceMs;
    setImmediate(() => setImmediate(() => (this.#pausedSinceMs = undefined)));
  }
}
