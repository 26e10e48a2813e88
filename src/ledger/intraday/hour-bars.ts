import type { Ohlc } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import { foldIntraday, type IntradayBar } from '../../market/intraday/bar.ts';
import { HOUR_MS, startOf, type TimeRange } from '../../market/intraday/interval.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, type Cell, onlyRow, type RowValues, type Sql } from '../engine/rows.ts';
import { insertRows, listOf } from '../engine/statements.ts';
import { readRevisions } from '../prices/bars.ts';
import type { DayRange, OriginSymbols } from '../prices/past.ts';
import { originFilter, type SymbolDay, type TradingDay } from '../symbols/origin.ts';
import { foldMinutes } from './fold-minutes.ts';
import { packMinutes, unpackMinutes } from './pack-minutes.ts';

/** What is read: hours are kept without limit, minutes are not. */
export type IntradayDetail = 'minute' | 'hour';

/** One trade date of a symbol, and its stored bars within the requested time. */
export interface StoredDay extends SymbolDay {
  bars: IntradayBar[];
}

/** A trade date and its minutes. */
export interface DayMinutes {
  of: TradingDay;
  minutes: readonly IntradayBar[];
}

/**
 * The minutes of a day whose ticks are about to be deleted. None if it has stored bars already: the ticks they were made of
 * are deleted, and late ticks alone do not make up a day.
 */
export async function minutesToStore(engine: Engine, of: TradingDay): Promise<IntradayBar[]> {
  const { read, placeholder: p } = engine;
  const stored = await read.unsafe(
    `SELECT 1 FROM hour_bar WHERE symbol_id = ${p(1)} AND day = ${p(2)} AND ${originFilter(of.origin)} LIMIT 1`,
    [of.symbolId, of.day],
  );
  if (stored.length > 0) return [];
  const current = (await readRevisions(read, of.symbolId, of.origin, of.day, of.day)).at(-1);
  const receivedAfter = current?.ticksWithdrawnUntil;
  return foldMinutes(engine, of, receivedAfter === undefined ? {} : { receivedAfter });
}

/** Stores the minutes of trade dates, by hour. Another process may have stored the same. */
export async function storeMinutes(engine: Engine, tx: Sql, days: readonly DayMinutes[]): Promise<void> {
  const columns = 'symbol_id, day, at, source_id, open, high, low, close, minute_count, close_sum, minutes';
  await insertRows(engine, tx, `hour_bar (${columns})`, days.flatMap(rowsOf), 'ON CONFLICT DO NOTHING');
}

/** The days of a symbol with stored bars of real prices. */
export async function storedDays(
  { read, placeholder: p }: Engine,
  symbolId: number,
  { first, last }: DayRange,
): Promise<Day[]> {
  const rows = await read
    .unsafe(
      `SELECT DISTINCT day FROM hour_bar
       WHERE symbol_id = ${p(1)} AND day >= ${p(2)} AND day <= ${p(3)} AND ${originFilter('real')}`,
      [symbolId, first, last],
    )
    .values();
  return rows.map(([day]) => asNumber(day));
}

/** All stored bars of a day as one, with the prices of the ticks that were deleted. Undefined if none are stored. */
export async function storedDay(
  { placeholder: p }: Engine,
  handle: Sql,
  { symbolId, day, origin }: TradingDay,
): Promise<(Ohlc & { sourceId: number }) | undefined> {
  const rows = await handle
    .unsafe(
      `SELECT open, high, low, close, source_id FROM hour_bar
       WHERE symbol_id = ${p(1)} AND day = ${p(2)} AND ${originFilter(origin)} ORDER BY at`,
      [symbolId, day],
    )
    .values();
  if (rows.length === 0) return undefined;
  const hours = rows.map((row) => row.map(asNumber));
  const [first, last] = [hours[0]!, hours.at(-1)!];
  return {
    open: first[0]!,
    high: Math.max(...hours.map(([, high]) => high!)),
    low: Math.min(...hours.map(([, , low]) => low!)),
    close: last[3]!,
    sourceId: last[4]!,
  };
}

function rowsOf({ of: { symbolId, day }, minutes }: DayMinutes): RowValues[] {
  return [...Map.groupBy(minutes, ({ at }) => startOf(at, HOUR_MS))].map(([hour, own]) => {
    const { sourceId, open, high, low, close, closeSum } = foldIntraday(own, HOUR_MS)[0]!;
    return [symbolId, day, hour, sourceId, open, high, low, close, own.length, closeSum, packMinutes(own)];
  });
}

/** The start of the first stored bar that ends after `from`, on a trade date from `first` on. */
export async function nextStored(
  engine: Engine,
  { origin, symbolIds }: OriginSymbols,
  { first, from }: { first: Day; from: number },
  detail: IntradayDetail,
): Promise<number | undefined> {
  const { read, placeholder: p } = engine;
  const rows = await read.unsafe(
    `SELECT min(at) AS at FROM (SELECT (
         SELECT at FROM hour_bar WHERE symbol_id = symbol.id AND day >= ${p(1)} AND at > ${p(2)}
           AND ${originFilter(origin)} AND ${hasDetail(detail)}
         ORDER BY day, at LIMIT 1) AS at
       FROM symbol WHERE id IN (${listOf(engine, symbolIds.length, 3)})) AS earliest`,
    [first, from - HOUR_MS, ...symbolIds],
  );
  const { at } = onlyRow(rows);
  return at === null ? undefined : asNumber(at);
}

/** The first trade date with stored bars of each symbol that has any. */
export async function firstStoredDays(
  engine: Engine,
  { origin, symbolIds }: OriginSymbols,
  detail: IntradayDetail,
): Promise<ReadonlyMap<number, Day>> {
  const rows = await engine.read
    .unsafe(
      `SELECT id, (
         SELECT day FROM hour_bar WHERE symbol_id = symbol.id AND ${originFilter(origin)} AND ${hasDetail(detail)}
         ORDER BY day LIMIT 1)
       FROM symbol WHERE id IN (${listOf(engine, symbolIds.length)})`,
      [...symbolIds],
    )
    .values();
  const found = rows.filter(([, day]) => day !== null);
  return new Map(found.map(([id, day]) => [asNumber(id), asNumber(day)]));
}

/** SQL condition on a row of `hour_bar`. The oldest minutes are found by the index `hour_bar_with_minutes`. */
function hasDetail(detail: IntradayDetail): string {
  if (detail === 'hour') return 'true';
  return 'minutes IS NOT NULL AND day >= (SELECT min(day) FROM hour_bar WHERE minutes IS NOT NULL)';
}

/** The trade dates that have stored bars, each with those of its bars whose hour overlaps `time`, in order. */
export async function readStored(
  engine: Engine,
  { origin, symbolIds }: OriginSymbols,
  days: DayRange,
  time: TimeRange,
  detail: IntradayDetail,
): Promise<StoredDay[]> {
  const { read, placeholder: p } = engine;
  const count = symbolIds.length;
  const rows = await read
    .unsafe(
      `SELECT symbol_id, day, at, source_id, open, high, low, close, minute_count, close_sum
         ${detail === 'minute' ? ', minutes' : ''} FROM hour_bar
       WHERE symbol_id IN (${listOf(engine, count)}) AND day >= ${p(count + 1)} AND day <= ${p(count + 2)}
         AND ${originFilter(origin)}
       ORDER BY symbol_id, day, at`,
      [...symbolIds, days.first, days.last],
    )
    .values();
  const found: StoredDay[] = [];
  for (const row of rows) {
    const [symbolId, day, at] = [asNumber(row[0]), asNumber(row[1]), asNumber(row[2])];
    const last = found.at(-1);
    const own = last?.symbolId === symbolId && last.day === day ? last : { symbolId, day, bars: [] };
    if (own !== last) found.push(own);
    if (at + HOUR_MS > time.from && at < time.to) own.bars.push(...barsOf(row, detail));
  }
  return found;
}

/** Reads a row of `readStored`. */
function barsOf(row: readonly Cell[], detail: IntradayDetail): IntradayBar[] {
  const [, day, at, sourceId, open, high, low, close, minutes, closeSum] = row.slice(0, 10).map(asNumber);
  const [packed] = row.slice(10);
  if (detail === 'minute') return packed === null ? [] : unpackMinutes(asText(packed), at!, day!);
  const ohlc = { open: open!, high: high!, low: low!, close: close! };
  return [{ at: at!, day: day!, ...ohlc, sourceId: sourceId!, minutes: minutes!, closeSum: closeSum! }];
}
