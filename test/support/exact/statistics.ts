import { type DatedCloses, meanClose } from './derived-rows.ts';
import {
  dividedBy,
  isLess,
  logOf,
  meanOf,
  minus,
  type Rational,
  rational,
  rootOf,
  roundedAt,
  roundedTo,
  sumOf,
  timesOf,
} from './rational.ts';

/** The statistics of `/rates/statistics` as docs/api.md defines them, by exact fractions. */
export function exactStatistics(all: DatedCloses, places: number): Record<string, number | string> {
  const closes = all.map(([, close]) => close);
  const sorted = closes.toSorted((a, b) => a - b);
  const middle = (closes.length - 1) / 2;
  const values = closes.map(rational);
  const [minimum, maximum] = [sorted[0]!, sorted.at(-1)!];
  const dateOf = (value: number) => all.find(([, close]) => close === value)![0];
  const deviation = deviationOf(values);
  const volatility = deviationOf(returnsOf(all));
  return {
    count: closes.length,
    last: closes.at(-1)!,
    lastDate: all.at(-1)![0],
    mean: meanClose(closes, places),
    median: meanClose([sorted[Math.floor(middle)]!, sorted[Math.ceil(middle)]!], places),
    ...(deviation && { standardDeviation: roundedTo(deviation, 8) }),
    ...(volatility && { volatility: roundedTo(timesOf(volatility, rootOf(rational(252n))), 8) }),
    minimum,
    minimumDate: dateOf(minimum),
    maximum,
    maximumDate: dateOf(maximum),
    ...drawdownOf(all),
  };
}

/** Of the sample; undefined for fewer than two values. */
function deviationOf(values: readonly Rational[]): Rational | undefined {
  if (values.length < 2) return undefined;
  const mean = meanOf(values);
  const squares = values.map((value) => {
    const distance = minus(value, mean);
    return timesOf(distance, distance);
  });
  const { n, d } = sumOf(squares);
  return rootOf({ n, d: d * BigInt(values.length - 1) });
}

/** The logarithms of the quotients of neighbours. Those of closes that are not positive are left out. */
function returnsOf(all: DatedCloses): Rational[] {
  return all.slice(1).flatMap(([, close], i) => logReturn(all[i]![1], close) ?? []);
}

function logReturn(from: number, to: number): Rational | undefined {
  return from > 0 && to > 0 ? logOf(dividedBy(rational(to), rational(from))!) : undefined;
}

/** Compares every close with the first highest one up to it. */
function drawdownOf(all: DatedCloses): Record<string, number | string> {
  let [deepest, dates]: [Rational, readonly [string, string] | undefined] = [rational(0n), undefined];
  all.forEach(([date, close], i) => {
    const until = all.slice(0, i + 1);
    const peak = Math.max(...until.map(([, one]) => one));
    if (peak <= 0) return;
    const fall = dividedBy(minus(rational(peak), rational(close)), rational(peak))!;
    if (isLess(deepest, fall)) [deepest, dates] = [fall, [until.find(([, one]) => one === peak)![0], date]];
  });
  const size = { maximumDrawdown: roundedAt(deepest, 8) };
  return dates ? { ...size, peakDate: dates[0], troughDate: dates[1] } : size;
}

/** Pearson's correlation of the returns between the days that both have; undefined where it is not defined. */
export function exactCorrelation(a: DatedCloses, b: DatedCloses): number | undefined {
  const other = new Map(b);
  const common = a.filter(([date]) => other.has(date));
  const pairs = common.slice(1).flatMap(([date, close], i) => {
    const [before, closeBefore] = common[i]!;
    const [x, y] = [logReturn(closeBefore, close), logReturn(other.get(before)!, other.get(date)!)];
    return x && y ? [[x, y] as const] : [];
  });
  if (pairs.length < 2) return undefined;
  const [meanX, meanY] = [meanOf(pairs.map(([x]) => x)), meanOf(pairs.map(([, y]) => y))];
  const distances = pairs.map(([x, y]) => [minus(x, meanX), minus(y, meanY)] as const);
  const xx = sumOf(distances.map(([x]) => timesOf(x, x)));
  const yy = sumOf(distances.map(([, y]) => timesOf(y, y)));
  const xy = sumOf(distances.map(([x, y]) => timesOf(x, y)));
  const size = timesOf(rootOf(xx), rootOf(yy));
  return size.n === 0n ? undefined : roundedAt(dividedBy(xy, size)!, 8);
}
