import type { Clock } from '../../runtime/clock.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { LATENCY_BUCKETS } from '../../runtime/metrics/histogram.ts';
import type { Metrics } from './metrics.ts';

/** What one process did in one minute. Several processes are added up by `mergeTraffic`. */
export interface TrafficMinute {
  /** Start of the minute, in ms. */
  at: number;
  requests: number;
  /** Responses with a status from 400 to 499. */
  refused: number;
  /** Responses with a status from 500 on. */
  failed: number;
  /** Requests by latency, as in `Histogram`. */
  latency: number[];
  /** The longest time by which the process was behind the ledger. */
  lagSeconds: number;
}

/** Six hours; about 100 KB. */
export const TRAFFIC_MINUTES = 360;

/** Endpoints of operators and monitors: their own polling is not traffic. */
const NOT_TRAFFIC: ReadonlySet<string> = new Set(['admin', 'other', 'page']);

/** Requests, errors, latency and lag of this process by minute, in memory. It costs requests nothing: it reads their counters. */
export class TrafficHistory {
  readonly #metrics: Metrics;
  readonly #clock: Clock;
  readonly #lagSeconds: () => number;
  readonly #minutes: TrafficMinute[] = [];
  #before: Totals;

  constructor(metrics: Metrics, clock: Clock, lagSeconds: () => number) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#lagSeconds = lagSeconds;
    this.#before = this.#totals();
  }

  /** Adds what happened since the last call to the current minute. Call it a few times per minute. */
  sample(): void {
    const totals = this.#totals();
    const minute = this.#current();
    minute.requests += totals.requests - this.#before.requests;
    minute.refused += totals.refused - this.#before.refused;
    minute.failed += totals.failed - this.#before.failed;
    for (const [i, count] of totals.latency.entries()) minute.latency[i]! += count - this.#before.latency[i]!;
    minute.lagSeconds = Math.max(minute.lagSeconds, this.#lagSeconds());
    this.#before = totals;
  }

  /** The minutes until now, oldest first. */
  read(): readonly TrafficMinute[] {
    this.sample();
    return this.#minutes;
  }

  #current(): TrafficMinute {
    const at = Math.floor(this.#clock.now() / MINUTE_MS) * MINUTE_MS;
    // Minutes that are still to come were measured before the clock was set back.
    while (this.#minutes.length > 0 && this.#minutes.at(-1)!.at > at) this.#minutes.pop();
    const last = this.#minutes.at(-1);
    if (last?.at === at) return last;
    const minute = { at, lagSeconds: 0, ...emptyTotals() };
    this.#minutes.push(minute);
    if (this.#minutes.length > TRAFFIC_MINUTES) this.#minutes.shift();
    return minute;
  }

  #totals(): Totals {
    const totals = emptyTotals();
    this.#metrics.forEach((endpoint, status, histogram) => {
      if (NOT_TRAFFIC.has(endpoint)) return;
      const { count } = histogram;
      totals.requests += count;
      if (status >= 500) totals.failed += count;
      else if (status >= 400) totals.refused += count;
      histogram.addTo(totals.latency);
    });
    return totals;
  }
}

type Totals = Omit<TrafficMinute, 'at' | 'lagSeconds'>;

function emptyTotals(): Totals {
  return { requests: 0, refused: 0, failed: 0, latency: new Array<number>(LATENCY_BUCKETS).fill(0) };
}

/** Adds up the minutes of several processes. The lag is that of the process that is furthest behind. */
export function mergeTraffic(histories: readonly (readonly TrafficMinute[])[]): TrafficMinute[] {
  const merged = new Map<number, TrafficMinute>();
  for (const one of histories.flat()) {
    const sum = merged.getOrInsertComputed(one.at, () => ({ at: one.at, lagSeconds: 0, ...emptyTotals() }));
    sum.requests += one.requests;
    sum.refused += one.refused;
    sum.failed += one.failed;
    for (const [i, count] of one.latency.entries()) sum.latency[i]! += count;
    sum.lagSeconds = Math.max(sum.lagSeconds, one.lagSeconds);
  }
  return [...merged.values()].sort((a, b) => a.at - b.at).slice(-TRAFFIC_MINUTES);
}
