import { type Fold, foldTick } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber } from '../engine/rows.ts';
import { originFilter, type PriceOrigin, type SymbolDay } from '../symbols/origin.ts';
import { type LedgerTick, toTick } from '../ticks/tick.ts';
import { ALWAYS, type StoredRevision, toRevision, withdrawnUntilSql } from './bars.ts';

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

export interface SymbolRevision extends StoredRevision {
  symbolId: number;
}

/** Reads for point-in-time requests. Each takes many symbols and runs one statement for all of them. */
export class PastStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * The first day of each symbol that had a visible bar. The change log bounds the search: without it, a symbol whose
   * history was recorded later would be scanned from end to end.
   */
  async firstDays(
    symbols: readonly EndedSessions[],
    origin: PriceOrigin,
    recordedBy: RecordedBy,
  ): Promise<Map<number, Day>> {
    const rows = await this.#query((value) => {
      const isVisible = (bar: string) => visible(bar, origin, recordedBy, value);
      return `WITH ${askedFor(symbols, value)}
        SELECT a.symbol_id, (SELECT b.day FROM bar b WHERE b.symbol_id = a.symbol_id AND b.withdrawn = 0
            AND b.day >= (SELECT min(c.first_day) FROM bar_change c
              WHERE c.symbol_id = a.symbol_id AND c.recorded_at <= ${value(recordedBy.ended)})
            AND ${isVisible('b')} AND NOT EXISTS (
              SELECT 1 FROM bar w WHERE w.symbol_id = b.symbol_id AND w.day = b.day AND w.revision > b.revision
                AND w.withdrawn > 0 AND ${isVisible('w')})
          ORDER BY b.day LIMIT 1)
        FROM asked a`;
    });
    const found = rows.filter(([, day]) => day !== null);
    return new Map(found.map(([symbolId, day]) => [asNumber(symbolId), asNumber(day)]));
  }

  /** Every revision that was recorded by a given time, by symbol, day and revision. */
  async bars(
    { origin, symbolIds }: OriginSymbols,
    days: DayRange,
    recordedBy: number,
  ): Promise<PastBarRow[]> {
    const rows = await this.#query((value, list) => {
      return `SELECT symbol_id, day, open, high, low, close, source_id, recorded_at, withdrawn FROM bar
        WHERE symbol_id IN (${list(symbolIds)}) AND day >= ${value(days.first)} AND day <= ${value(days.last)}
          AND recorded_at <= ${value(recordedBy)} AND ${originFilter(origin)}
        ORDER BY symbol_id, day, revision`;
    });
    return rows as unknown as PastBarRow[];
  }

  /** The days that were ever withdrawn. */
  async withdrawnDays({ origin, symbolIds }: OriginSymbols, days: DayRange): Promise<SymbolDay[]> {
    const rows = await this.#query((value, list) => {
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
    const rows = await this.#query((value) => {
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
    const rows = await this.#query((value) => {
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
    const rows = await this.#query((value, list) => {
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
    const rows = await this.#query((value) => {
      return `SELECT 1 FROM (SELECT at, received FROM tick ORDER BY revision DESC LIMIT ${NEWEST_WRITES}) t
          WHERE t.at > ${value(horizon)} OR t.received > ${value(horizon)}
        UNION ALL
        SELECT 1 FROM (SELECT recorded_at FROM bar_change ORDER BY revision DESC LIMIT ${NEWEST_WRITES}) c
          WHERE c.recorded_at > ${value(horizon)}`;
    });
    return rows.length > 0;
  }

  /** All revisions of one day, by symbol and revision. */
  async revisions({ origin, symbolIds }: OriginSymbols, day: Day): Promise<SymbolRevision[]> {
    const rows = await this.#query((value, list) => {
      return `SELECT ${REVISION_COLUMNS} FROM bar b
        WHERE b.symbol_id IN (${list(symbolIds)}) AND b.day = ${value(day)} AND b.${originFilter(origin)}
        ORDER BY b.symbol_id, b.revision`;
    });
    return rows.map(toSymbolRevision);
  }

  /**
   * The revisions of the days that have more than one, by day, symbol and revision; the first `limit`. A day that was
   * written twice is in two changes, so the change log limits the search; without it, every bar would be read.
   */
  async revised(
    { origin, symbolIds }: OriginSymbols,
    days: DayRange,
    limit: number,
  ): Promise<SymbolRevision[]> {
    const rows = await this.#query((value, list) => {
      return `WITH change AS (
          SELECT symbol_id, first_day, last_day, ${greatestBefore('last_day')} AS covered_to FROM bar_change
          WHERE symbol_id IN (${list(symbolIds)})
            AND first_day <= ${value(days.last)} AND last_day >= ${value(days.first)}),
        overlap AS (
          SELECT symbol_id, CASE WHEN first_day < c.first THEN c.first ELSE first_day END AS first_day,
            CASE WHEN covered_to > last_day THEN last_day ELSE covered_to END AS last_day
          FROM change, (SELECT ${integers([days.first], value)} AS first) c WHERE first_day <= covered_to),
        span AS (
          SELECT symbol_id, first_day, last_day, ${greatestBefore('last_day')} AS done_to FROM overlap),
        separate AS (
          SELECT symbol_id, CASE WHEN done_to >= first_day THEN done_to + 1 ELSE first_day END AS first_day,
            CASE WHEN last_day > c.last THEN c.last ELSE last_day END AS last_day
          FROM span, (SELECT ${integers([days.last], value)} AS last) c),
        revised AS (
          SELECT b.symbol_id, b.day FROM separate s CROSS JOIN bar b
          WHERE b.symbol_id = s.symbol_id AND b.day >= s.first_day AND b.day <= s.last_day
            AND b.${originFilter(origin)}
          GROUP BY b.symbol_id, b.day HAVING count(*) > 1 ORDER BY b.day, b.symbol_id LIMIT ${value(limit)})
        SELECT ${REVISION_COLUMNS} FROM revised r CROSS JOIN bar b
        WHERE b.symbol_id = r.symbol_id AND b.day = r.day AND b.${originFilter(origin)}
        ORDER BY b.day, b.symbol_id, b.revision LIMIT ${value(limit)}`;
    });
    return rows.map(toSymbolRevision);
  }

  /** Runs a statement whose placeholders are numbered in the order of its text. */
  async #query(write: (value: Value, list: (ones: readonly number[]) => string) => string): Promise<Row[]> {
    const values: number[] = [];
    const value = (one: number) => this.#engine.placeholder(values.push(one));
    const text = write(value, (ones) => ones.map(value).join(', '));
    return this.#engine.read.unsafe(text, values).values();
  }
}

type Row = readonly (number | string | null)[];

/** Adds a value to a statement and returns its placeholder. */
type Value = (one: number) => string;

/** Prices are written nearly in the order in which they were received; at most this many may be out of order. */
const NEWEST_WRITES = 1_000;

/** A common table expression with the requested symbols. */
function askedFor(symbols: readonly EndedSessions[], value: Value): string {
  const rows = symbols.map(({ symbolId, lastEnded }) => `(${integers([symbolId, lastEnded], value)})`);
  return `asked (symbol_id, last_ended) AS (VALUES ${rows.join(', ')})`;
}

/** The greatest value of a column among the earlier spans of the same symbol; NULL for the first. */
function greatestBefore(column: string): string {
  return `max(${column}) OVER (PARTITION BY symbol_id ORDER BY first_day, last_day
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
}

/** PostgreSQL assumes that a bare placeholder in VALUES is text. */
function integers(ones: readonly number[], value: Value): string {
  return ones.map((one) => `CAST(${value(one)} AS BIGINT)`).join(', ');
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

const REVISION_COLUMNS =
  'b.symbol_id, b.day, b.revision, b.open, b.high, b.low, b.close, b.source_id, b.recorded_at, b.reason, b.withdrawn';

function toSymbolRevision([symbolId, ...revision]: Row): SymbolRevision {
  return {
    symbolId: asNumber(symbolId),
    ...toRevision(revision),
  };
}
