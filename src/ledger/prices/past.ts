import { type Fold, foldTick } from '../../market/bar.ts';
import { type Day, LAST_DAY, utcDay } from '../../market/day.ts';
import { TRADED_AHEAD_DAYS } from '../../market/session.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber } from '../engine/rows.ts';
import { integers, queryNumbers, type Value } from '../engine/statements.ts';
import { originFilter, type PriceOrigin, type SymbolDay } from '../symbols/origin.ts';
import { type LedgerTick, toTick } from '../ticks/tick.ts';
import { ALWAYS, withdrawnUntilSql } from './bars.ts';
import { standingBar } from './standing.ts';

/** Days from `first` to `last`, both included. */
export interface DayRange {
  first: Day;
  last: Day;
}

/** Symbols, and whether their real or their simulated prices are read. */
export interface OriginSymbols {
  origin: PriceOrigin;
  symbolIds: readonly number[];
}

/** The last day of a symbol whose session had ended. */
export interface EndedSessions {
  symbolId: number;
  lastEnded: Day;
}

/** By when a bar must have been recorded to be visible. */
export interface RecordedBy {
  /** If its session had ended. */
  ended: number;
  /** If its session was still running. */
  running: number;
}

/** One revision of a day's bar, as the raw row: an object for each would double the time of a read. */
export type PastBarRow = readonly [
  symbolId: number,
  day: Day,
  open: number,
  high: number,
  low: number,
  close: number,
  sourceId: number,
  recordedAt: number | string,
  withdrawn: number,
];

/** A trade date with ticks. Those received after a time (in ms) count: earlier ones were withdrawn. */
export interface CountedDay extends SymbolDay {
  after: number;
}

/** The ticks of one symbol and trade date, folded to a bar. */
export interface FoldedTicks extends SymbolDay {
  fold: Fold<LedgerTick>;
}

/** Reads for point-in-time requests. Each takes many symbols and runs one statement for all of them. */
export class PastStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * The first and the last day of each symbol that had a visible bar. The change log bounds the search: without it, a symbol
   * whose history was recorded later would be scanned from end to end. A change that was merged with later ones ends too late
   * (`retention/merge-changes.ts`), but no bar is dated after the trade date on which it was recorded.
   */
  async dayRanges(
    symbols: readonly EndedSessions[],
    origin: PriceOrigin,
    recordedBy: RecordedBy,
  ): Promise<Map<number, DayRange>> {
    const latest = Math.min(utcDay(recordedBy.ended) + TRADED_AHEAD_DAYS, LAST_DAY);
    const rows = await queryNumbers(this.#engine, (value) => {
      const isVisible = (bar: string) => visible(bar, origin, recordedBy, value);
      const changes = () =>
        `FROM bar_change c WHERE c.symbol_id = a.symbol_id AND c.recorded_at <= ${value(recordedBy.ended)}`;
      const visibleDay = () =>
        `SELECT b.day FROM bar b WHERE b.symbol_id = a.symbol_id AND ${isVisible('b')} AND ${standingBar('b', isVisible)}`;
      return `WITH ${askedFor(symbols, value)}
        SELECT a.symbol_id,
          (${visibleDay()} AND b.day >= (SELECT min(c.first_day) ${changes()}) ORDER BY b.day LIMIT 1),
          (${visibleDay()} AND b.day <= (SELECT max(c.last_day) ${changes()}) AND b.day <= ${value(latest)}
            ORDER BY b.day DESC LIMIT 1)
        FROM asked a`;
    });
    const found = rows.filter(([, first]) => first !== null);
    return new Map(
      found.map(([symbolId, first, last]) => [
        asNumber(symbolId),
        { first: asNumber(first), last: asNumber(last ?? first) },
      ]),
    );
  }

  /** Every revision that was recorded by a given time, by symbol, day and revision. */
  async bars(
    { origin, symbolIds }: OriginSymbols,
    days: DayRange,
    recordedBy: number,
  ): Promise<PastBarRow[]> {
    const rows = await queryNumbers(this.#engine, (value, list) => {
      return `SELECT symbol_id, day, open, high, low, close, source_id, recorded_at, withdrawn FROM bar
        WHERE symbol_id IN (${list(symbolIds)}) AND day >= ${value(days.first)} AND day <= ${value(days.last)}
          AND recorded_at <= ${value(recordedBy)} AND ${originFilter(origin)}
        ORDER BY symbol_id, day, revision`;
    });
    return rows as unknown as PastBarRow[];
  }

  /** The days that were ever withdrawn. */
  async withdrawnDays({ origin, symbolIds }: OriginSymbols, days: DayRange): Promise<SymbolDay[]> {
    const rows = await queryNumbers(this.#engine, (value, list) => {
      return `SELECT DISTINCT symbol_id, day FROM bar
        WHERE symbol_id IN (${list(symbolIds)}) AND day >= ${value(days.first)} AND day <= ${value(days.last)}
          AND withdrawn > 0 AND ${originFilter(origin)}`;
    });
    return rows.map(([symbolId, day]) => ({ symbolId: asNumber(symbolId), day: asNumber(day) }));
  }

  /**
   * The trade dates that have a tick visible at a horizon that was not withdrawn, by symbol and day. Each step of the
   * recursion jumps to the next day in the index; a DISTINCT would read every tick, and so would PostgreSQL for an EXISTS,
   * which it may turn into a join.
   */
  async tickDays(
    symbols: readonly EndedSessions[],
    origin: PriceOrigin,
    recordedBy: RecordedBy,
    horizon: number,
  ): Promise<CountedDay[]> {
    const rows = await queryNumbers(this.#engine, (value) => {
      return `WITH RECURSIVE ${askedFor(symbols, value)}, d (symbol_id, last_ended, day) AS (
          SELECT a.symbol_id, a.last_ended, (SELECT min(t.day) FROM tick t WHERE t.symbol_id = a.symbol_id) FROM asked a
          UNION ALL
          SELECT a.symbol_id, a.last_ended,
            (SELECT min(t.day) FROM tick t WHERE t.symbol_id = a.symbol_id AND t.day > a.day)
          FROM d a WHERE a.day IS NOT NULL),
        counted AS (SELECT a.symbol_id, a.day,
            coalesce(${withdrawnUntilSql('a', (bar) => visible(bar, origin, recordedBy, value))}, ${ALWAYS}) AS after
          FROM d a WHERE a.day IS NOT NULL)
        SELECT a.symbol_id, a.day, a.after FROM counted a WHERE (
          SELECT 1 FROM tick t WHERE t.symbol_id = a.symbol_id AND t.day = a.day AND t.received > a.after
            AND ${visibleTick('t', origin, horizon, value)} ORDER BY t.at LIMIT 1) = 1
          AND NOT EXISTS (SELECT 1 FROM tick_pruning p WHERE p.symbol_id = a.symbol_id AND p.day = a.day
            AND p.simulated = ${origin === 'simulated' ? 1 : 0})
        ORDER BY a.symbol_id, a.day`;
    });
    return rows.map(([symbolId, day, after]) => ({
      symbolId: asNumber(symbolId),
      day: asNumber(day),
      after: asNumber(after),
    }));
  }

  /** Folds the ticks of each day that are visible at a horizon, in the database: a day may have a million ticks. */
  async foldTicks(days: readonly CountedDay[], origin: PriceOrigin, horizon: number): Promise<FoldedTicks[]> {
    if (days.length === 0) return [];
    // The first and the last ticks of a day by time. Ties are resolved below.
    const rows = await queryNumbers(this.#engine, (value) => {
      const wanted = days.map(({ symbolId, day, after }) => `(${integers([symbolId, day, after], value)})`);
      return `WITH wanted (symbol_id, day, after) AS (VALUES ${wanted.join(', ')}),
        folded AS (
          SELECT w.symbol_id, w.day, w.after, min(t.price) AS low, max(t.price) AS high, min(t.at) AS first_at, max(t.at) AS last_at
          FROM wanted w JOIN tick t ON t.symbol_id = w.symbol_id AND t.day = w.day AND t.received > w.after
          WHERE ${visibleTick('t', origin, horizon, value)} GROUP BY w.symbol_id, w.day, w.after)
        SELECT t.symbol_id, t.source_id, t.tick_id, t.day, t.at, t.received, t.price, t.revision, f.low, f.high
        FROM folded f JOIN tick t ON t.symbol_id = f.symbol_id AND t.day = f.day AND t.at IN (f.first_at, f.last_at)
          AND t.received > f.after
        WHERE ${visibleTick('t', origin, horizon, value)} ORDER BY t.symbol_id, t.day, t.source_id`;
    });
    const found: FoldedTicks[] = [];
    for (const row of rows) {
      const tick = toTick(row);
      const last = found.at(-1);
      const same = last?.symbolId === tick.symbolId && last.day === tick.day ? last : undefined;
      const fold = foldTick(same?.fold, tick);
      fold.low = asNumber(row[8]);
      fold.high = asNumber(row[9]);
      if (same) same.fold = fold;
      else found.push({ symbolId: tick.symbolId, day: tick.day, fold });
    }
    return found;
  }

  /** Whether a bar of these symbols was written after a revision with a `recorded_at` up to a time. Imports record their start. */
  async hasChanged(symbolIds: readonly number[], since: number, recordedBy: number): Promise<boolean> {
    const rows = await queryNumbers(this.#engine, (value, list) => {
      return `SELECT 1 FROM bar_change WHERE symbol_id IN (${list(symbolIds)}) AND recorded_at <= ${value(recordedBy)}
        AND revision > ${value(since)} LIMIT 1`;
    });
    return rows.length > 0;
  }

  /**
   * Whether any price may become visible after a horizon without being written again. It is about all symbols, as a revision is:
   * otherwise, a delayed plan would learn which symbols have hidden prices.
   */
  async hasHidden(horizon: number): Promise<boolean> {
    const rows = await queryNumbers(this.#engine, (value) => {
      return `SELECT 1 FROM (SELECT at, received FROM tick ORDER BY revision DESC LIMIT ${NEWEST_WRITES}) t
          WHERE t.at > ${value(horizon)} OR t.received > ${value(horizon)}
        UNION ALL
        SELECT 1 FROM (SELECT recorded_at FROM bar_change ORDER BY revision DESC LIMIT ${NEWEST_WRITES}) c
          WHERE c.recorded_at > ${value(horizon)}`;
    });
    return rows.length > 0;
  }
}

/** Prices are written nearly in the order in which they were received; at most this many may be out of order. */
const NEWEST_WRITES = 1_000;

/** A common table expression with the requested symbols. */
function askedFor(symbols: readonly EndedSessions[], value: Value): string {
  const rows = symbols.map(({ symbolId, lastEnded }) => `(${integers([symbolId, lastEnded], value)})`);
  return `asked (symbol_id, last_ended) AS (VALUES ${rows.join(', ')})`;
}

/** SQL condition: whether a row of `bar` was visible, joined with the row `a` of its symbol. */
function visible(bar: string, origin: PriceOrigin, { ended, running }: RecordedBy, value: Value): string {
  const isEnded = `${bar}.day <= a.last_ended`;
  return `${bar}.${originFilter(origin)}
    AND ${bar}.recorded_at <= CASE WHEN ${isEnded} THEN ${integers([ended], value)} ELSE ${integers([running], value)} END`;
}

function visibleTick(tick: string, origin: PriceOrigin, horizon: number, value: Value): string {
  return `${tick}.at <= ${value(horizon)} AND ${tick}.received <= ${value(horizon)} AND ${tick}.${originFilter(origin)}`;
}
