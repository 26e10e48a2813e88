import type { Bar } from '../../market/bar.ts';
import { seedOf, uniform } from './noise.ts';
import { SPARSE_MS, type Timetable, tradedMs } from './schedule.ts';
import { toPrice, type Walk } from './walk.ts';

/** A point on the day's path. Time is what the market has traded: the path pauses in its breaks. */
interface Point {
  ms: number;
  price: number;
}

/** Subdivisions between two fixed points: 2^8 parts of a day are under six minutes; within them the path is straight. */
const DEPTH = 8;

/**
 * The price at a time of a trade date. The path starts at the bar's open with the symbol's first tick, ends at its close with
 * the last, reaches high and low at ticks in between, and never exceeds them. So the ticks of a session fold to exactly its
 * bar, whether they are one or ten minutes apart.
 *
 *     open ─┐      ┌─ high             between two points: midpoint displacement,
 *           └──╲ ╱─┘      ╲      ┌─ close   each midpoint moved by a hash of commodity,
 *               V          ╲─low─┘          day and place
 */
export function priceAt(walk: Walk, bar: Bar, timetable: Timetable, ms: number): number {
  const seed = seedOf(`${walk.factor.name} path ${bar.day}`);
  const points = pointsOf(bar, timetable, seed);
  const at = Math.min(Math.max(tradedMs(timetable, ms), timetable.first), timetable.last);
  let segment = 1;
  while (segment < points.length - 1 && points[segment]!.ms < at) segment++;
  let [a, b] = [points[segment - 1]!, points[segment]!];
  // The range of a Brownian day is about 1.6 standard deviations; a bridge's midpoint has half of √length.
  const unitNoise = (bar.high - bar.low) / 1.6 / 2 / Math.sqrt(timetable.last - timetable.first || 1);
  let node = 1; // midpoints are numbered like a heap: the children of n are 2n and 2n + 1
  for (let depth = 0; depth < DEPTH && a.ms < at && at < b.ms; depth++) {
    // A uniform in ±√3 has variance 1.
    const noise = (uniform(seed, segment * 1024 + node) * 2 - 1) * Math.sqrt(3);
    const price = within(bar, (a.price + b.price) / 2 + noise * unitNoise * Math.sqrt(b.ms - a.ms));
    const middle = { ms: (a.ms + b.ms) / 2, price };
    const isLeft = at <= middle.ms;
    node = node * 2 + (isLeft ? 0 : 1);
    if (isLeft) b = middle;
    else a = middle;
  }
  const part = b.ms > a.ms ? (at - a.ms) / (b.ms - a.ms) : 0;
  return within(bar, toPrice(a.price + (b.price - a.price) * part, 10 ** walk.decimals));
}

/** First tick, last tick, and the two ticks in between that reach the high and the low. */
function pointsOf(bar: Bar, { first, last }: Timetable, seed: number): Point[] {
  const open = { ms: first, price: bar.open };
  const close = { ms: last, price: bar.close };
  const knots = Math.ceil((last - first) / SPARSE_MS) - 1; // ten minutes apart, strictly in between
  if (knots < 2) return [open, close];
  const high = Math.floor(uniform(seed, 1) * knots);
  const low = (high + 1 + Math.floor(uniform(seed, 2) * (knots - 1))) % knots;
  const extremes = [
    { ms: first + (high + 1) * SPARSE_MS, price: bar.high },
    { ms: first + (low + 1) * SPARSE_MS, price: bar.low },
  ].sort((a, b) => a.ms - b.ms);
  return [open, ...extremes, close];
}

function within(bar: Bar, price: number): number {
  return Math.min(Math.max(price, bar.low), bar.high);
}
