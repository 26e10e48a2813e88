import { type Fold, foldTick, ohlcOf } from '../../market/bar.ts';
import type { IntradayBar } from '../../market/intraday/bar.ts';
import { HOUR_MS, MINUTE_MS, startOf, type TimeRange } from '../../market/intraday/interval.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, onlyRow } from '../engine/rows.ts';
import { originFilter, type TradingDay } from '../symbols/origin.ts';
import { DayPages } from '../ticks/day-pages.ts';
import type { LedgerTick } from '../ticks/tick.ts';

/** Which ticks of a trade date are folded: those made in `range`, received after `receivedAfter`, and both by `horizon`. */
export interface MinuteLimits {
  range?: TimeRange;
  receivedAfter?: number;
  horizon?: number;
}

/** Ticks with `after` < received ≤ `by`. */
interface ReceivedSpan {
  after: number;
  by: number;
}

/**
 * Folds the ticks of a trade date into minutes, inside the database, an hour at a time. The thread yields to requests
 * between hours. Hours without ticks are skipped by the index `tick_by_day`.
 */
export async function foldMinutes(
  engine: Engine,
  of: TradingDay,
  { range, receivedAfter = Number.MIN_SAFE_INTEGER, horizon = Number.MAX_SAFE_INTEGER }: MinuteLimits = {},
): Promise<IntradayBar[]> {
  const minutes: IntradayBar[] = [];
  const received = { after: receivedAfter, by: horizon };
  const from = range?.from ?? Number.MIN_SAFE_INTEGER;
  const to = Math.min(range?.to ?? Number.MAX_SAFE_INTEGER, horizon + 1);
  for (let next = await nextTick(engine, of, from, to); next !== undefined; ) {
    const end = Math.min(to, startOf(next, HOUR_MS) + HOUR_MS);
    for (const bar of await foldHour(engine, of, { from: next, to: end }, received)) minutes.push(bar);
    if (shouldYield()) await yieldToRequests();
    next = await nextTick(engine, of, end, to);
  }
  return minutes;
}

/** The moment of the first tick with `from` ≤ at < `to`, of either origin. */
export async function nextTick(
  { read }: Engine,
  { symbolId, day }: TradingDay,
  from: number,
  to: number,
): Promise<number | undefined> {
  const { at } = onlyRow(
    await read`SELECT min(at) AS at FROM tick
      WHERE symbol_id = ${symbolId} AND day = ${day} AND at >= ${from} AND at < ${to}`,
  );
  return at === null ? undefined : asNumber(at);
}

/** The first and the last moment of a minute, and its lowest and highest price. */
interface MinuteSummary {
  low: number;
  high: number;
  firstAt: number;
  lastAt: number;
}

/** First and last moments of the minutes of an hour. */
const MOMENTS_MAX = 120;

/**
 * Sums up the minutes from the index `tick_by_day` alone, then reads their first and last ticks. One statement for both would
 * make PostgreSQL read every tick of the hour from the table, in random order: 1,424 pages for 1,424 ticks instead of 120.
 */
async function foldHour(
  engine: Engine,
  of: TradingDay,
  range: TimeRange,
  received: ReceivedSpan,
): Promise<IntradayBar[]> {
  const minutes = await summarizeMinutes(engine, of, range, received);
  const moments = new Set(minutes.flatMap(({ firstAt, lastAt }) => [firstAt, lastAt]));
  const pages = new DayPages(engine, of, { madeBy: range.to, receivedBy: received.by });
  const padding = new Array<undefined>(MOMENTS_MAX - moments.size).fill(undefined); // prepares one statement for all hours
  const ticks = await pages.atMoments([...moments, ...padding]);
  const visible = ticks.filter((tick) => tick.received > received.after && tick.received <= received.by);
  visible.sort((a, b) => a.at - b.at || a.sourceId - b.sourceId);
  const byMinute = Map.groupBy(visible, ({ at }) => startOf(at, MINUTE_MS));
  return minutes.map(({ low, high, firstAt }) => {
    const at = startOf(firstAt, MINUTE_MS);
    let fold: Fold<LedgerTick> | undefined;
    for (const tick of byMinute.get(at)!) fold = foldTick(fold, tick);
    const { open, close } = ohlcOf(fold!);
    const { sourceId } = fold!.close;
    return { at, day: of.day, open, high, low, close, sourceId, minutes: 1, closeSum: close };
  });
}

async function summarizeMinutes(
  { read, placeholder: p }: Engine,
  { symbolId, day, origin }: TradingDay,
  { from, to }: TimeRange,
  received: ReceivedSpan,
): Promise<MinuteSummary[]> {
  const rows = await read
    .unsafe(
      `SELECT min(price), max(price), min(at) AS first_at, max(at) FROM tick
       WHERE symbol_id = ${p(1)} AND day = ${p(2)} AND at >= ${p(3)} AND at < ${p(4)} AND received > ${p(5)}
         AND received <= ${p(6)} AND ${originFilter(origin)}
       GROUP BY at / ${MINUTE_MS} ORDER BY first_at`,
      [symbolId, day, from, to, received.after, received.by],
    )
    .values();
  return rows.map((row) => {
    const [low, high, firstAt, lastAt] = row.map(asNumber);
    return { low: low!, high: high!, firstAt: firstAt!, lastAt: lastAt! };
  });
}
