import type { Day } from '../../market/day.ts';
import { type Market, marketOf, tradeDate } from '../../market/session.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine, RowsInText } from '../engine/engine.ts';
import { Lookup } from '../engine/lookup.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asNumber, asText, type Sql } from '../engine/rows.ts';
import { insertRows, insertWithShared, ROWS_PER_TRANSACTION } from '../engine/statements.ts';
import { DELETED } from '../symbols/delete-symbol.ts';
import {
  markReal,
  originFilter,
  type PriceOrigin,
  symbolsWithRealPrices,
  type TradingDay,
} from '../symbols/origin.ts';
import { SIMULATED_ID, sourceId } from '../symbols/sources.ts';
import type { FoldLimits } from './day-pages.ts';
import { ticksOf } from './day-ticks.ts';
import { DayFolder, type FoldedDay } from './fold-day.ts';
import { readLastTicks } from './last-ticks.ts';
import { type LedgerTick, type NewTick, toTick } from './tick.ts';
import { TickDays } from './tick-days.ts';

/** About 1 ms on SQLite. */
const TICKS_PER_PAGE = 500;
/** Enough to tell busy symbols from others. */
const NEWEST_TICKS = 2_000;

export class TickStore {
  readonly #engine: Engine;
  /** Which days have ticks. */
  readonly tickDays: TickDays;

  readonly #days: Record<PriceOrigin, Lookup>;
  readonly #hasAfter: Record<PriceOrigin, Lookup>;
  readonly #folder: DayFolder;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.tickDays = new TickDays(engine);
    this.#folder = new DayFolder(engine);
    const daysOf = (origin: PriceOrigin) =>
      new Lookup(engine, { symbol_id: 'BIGINT' }, (n) => daysStatement(n, origin));
    this.#days = { real: daysOf('real'), simulated: daysOf('simulated') };
    const columns = { symbol_id: 'BIGINT', day: 'BIGINT', moment: 'BIGINT' } as const;
    const hasAfterOf = (origin: PriceOrigin) =>
      new Lookup(engine, columns, (n) => hasAfterStatement(n, origin));
    this.#hasAfter = { real: hasAfterOf('real'), simulated: hasAfterOf('simulated') };
  }

  /** Appends ticks, in transactions of 2,000. A tick with a known symbol, source and id is ignored. */
  async append(ticks: readonly NewTick[], source: string): Promise<void> {
    for (let from = 0; from < ticks.length; from += ROWS_PER_TRANSACTION) {
      await this.#appendSome(ticks.slice(from, from + ROWS_PER_TRANSACTION), source);
    }
  }

  async #appendSome(ticks: readonly NewTick[], source: string): Promise<void> {
    const engine = this.#engine;
    await engine.writePrices(async (tx) => {
      const revision = await nextRevision(tx, 'prices');
      const id = await sourceId(tx, source);
      const real = id === SIMULATED_ID ? await symbolsWithRealPrices(tx) : new Set<number>();
      const markets = await marketsOf(tx);
      // Simulated prices are never written after real ones.
      const taken = ticks
        .filter((tick) => !real.has(tick.symbolId))
        .map((tick) => ({ ...tick, sourceId: id }));
      await insertTicks(engine, tx, taken, markets, revision);
    });
  }

  /** The trade dates of one origin whose ticks are complete. */
  async days(symbolId: number, origin: PriceOrigin): Promise<Day[]> {
    return (await this.#days[origin].find(symbolId)).map(([day]) => asNumber(day));
  }

  /** Folds the ticks of one trade date, a bounded page at a time. */
  fold(of: TradingDay, limits: FoldLimits): Promise<FoldedDay | undefined> {
    return this.#folder.fold(of, limits);
  }

  /** The last tick of one trade date that is visible at each of these horizons. */
  last(of: TradingDay, horizons: readonly number[]): Promise<(LedgerTick | undefined)[]> {
    return readLastTicks(this.#engine, of, horizons);
  }

  /** Whether one trade date has ticks that were made after a moment. */
  async hasAfter({ symbolId, origin, day }: TradingDay, moment: number): Promise<boolean> {
    const [row] = await this.#hasAfter[origin].find(symbolId, day, moment);
    return row![0] !== null;
  }

  /** The ticks of one trade date. */
  async ofDay(symbolId: number, origin: PriceOrigin, day: Day): Promise<LedgerTick[]> {
    return ticksOf(this.#engine.read, { symbolId, origin, day });
  }

  /** Ticks whose revision is in (after, upTo], in the order of their revisions. Undefined if there are more than `ticksMax`. */
  since(after: number, upTo: number): Promise<LedgerTick[]>;
  since(after: number, upTo: number, ticksMax: number): Promise<LedgerTick[] | undefined>;
  async since(after: number, upTo: number, ticksMax = Number.POSITIVE_INFINITY) {
    const { read } = this.#engine;
    const found: LedgerTick[] = [];
    let [revision, symbolId, sourceId, id] = [after, Number.MAX_SAFE_INTEGER, 0, ''];
    for (;;) {
      const rows = await read`
        SELECT symbol_id, source_id, tick_id, day, at, received, price, revision FROM tick
        WHERE (revision, symbol_id, source_id, tick_id) > (${revision}, ${symbolId}, ${sourceId}, ${id})
          AND revision <= ${upTo}
        ORDER BY revision, symbol_id, source_id, tick_id LIMIT ${TICKS_PER_PAGE}`.values();
      for (const row of rows) found.push(toTick(row));
      if (found.length > ticksMax) return undefined;
      if (shouldYield()) await yieldToRequests(); // SQLite runs on this thread: reading all ticks at once would block it
      if (rows.length < TICKS_PER_PAGE) return found;
      ({ revision, symbolId, sourceId, id } = found.at(-1)!);
    }
  }

  /** The symbols that occur most often among the newest ticks, most frequent first. */
  async busiest(symbolsMax: number): Promise<number[]> {
    const rows = await this.#engine.read`
      SELECT symbol_id, count(*) AS n FROM (
        SELECT symbol_id FROM tick ORDER BY revision DESC LIMIT ${NEWEST_TICKS}) newest
      GROUP BY symbol_id ORDER BY n DESC, symbol_id LIMIT ${symbolsMax}`.values();
    return rows.map(([symbolId]) => asNumber(symbolId));
  }

  /** The time of the newest simulated tick of each of these symbols' trade dates, in ms; undefined where there is none. */
  async newestSimulated(days: readonly { symbolId: number; day: Day }[]): Promise<(number | undefined)[]> {
    const rows = await this.#engine.forRows(
      this.#engine.read,
      { symbol_id: 'BIGINT', day: 'BIGINT', position: 'BIGINT' },
      days.map(({ symbolId, day }, position) => [symbolId, day, position]),
      (n) => `SELECT ${n.cell('position')}, (
          SELECT at FROM tick WHERE tick.symbol_id = ${n.cell('symbol_id')} AND tick.day = ${n.cell('day')}
            AND source_id = ${SIMULATED_ID} ORDER BY at DESC LIMIT 1)
        FROM ${n.table}`,
    );
    const newest: (number | undefined)[] = days.map(() => undefined);
    for (const [position, at] of rows) if (at !== null) newest[asNumber(position)] = asNumber(at);
    return newest;
  }

  /** Whether a symbol has simulated ticks. */
  async hasSimulated(symbolId: number): Promise<boolean> {
    const rows = await this.#engine.read`
      SELECT 1 FROM tick WHERE symbol_id = ${symbolId} AND source_id = ${SIMULATED_ID} LIMIT 1`;
    return rows.length > 0;
  }
}

/**
 * The days are found by skipping through the index from one to the next. PostgreSQL may turn EXISTS into a join, which reads every
 * tick of the symbol; a value is looked up for each day.
 */
function daysStatement(n: RowsInText, origin: PriceOrigin): string {
  const simulated = origin === 'simulated' ? 1 : 0;
  return `WITH RECURSIVE found (position, symbol_id, day) AS (
      SELECT ${n.cell('position')}, ${n.cell('symbol_id')}, (SELECT min(day) FROM tick WHERE symbol_id = ${n.cell('symbol_id')})
      ${n.from}
      UNION ALL
      SELECT found.position, found.symbol_id,
        (SELECT min(t.day) FROM tick t WHERE t.symbol_id = found.symbol_id AND t.day > found.day)
      FROM found WHERE found.day IS NOT NULL)
    SELECT day, position FROM found WHERE day IS NOT NULL AND (
      SELECT 1 FROM tick t WHERE t.symbol_id = found.symbol_id AND t.day = found.day AND t.${originFilter(origin)}
      ORDER BY t.at LIMIT 1) = 1
      AND NOT EXISTS (SELECT 1 FROM tick_pruning d
        WHERE d.symbol_id = found.symbol_id AND d.day = found.day AND d.simulated = ${simulated})
    ORDER BY position, day`;
}

function hasAfterStatement(n: RowsInText, origin: PriceOrigin): string {
  return `SELECT (
      SELECT 1 FROM tick t WHERE t.symbol_id = ${n.cell('symbol_id')} AND t.day = ${n.cell('day')}
        AND t.at > ${n.cell('moment')} AND t.${originFilter(origin)} LIMIT 1), ${n.cell('position')}
    ${n.from}`;
}

/** The market of each symbol. */
export async function marketsOf(tx: Sql): Promise<Map<number, Market>> {
  const rows = await tx`SELECT id, market FROM symbol WHERE status <> ${DELETED}`;
  return new Map(rows.map((row) => [asNumber(row.id), marketOf(asText(row.market))]));
}

/** Inserts ticks in an open transaction. Existing ticks are ignored. */
export async function insertTicks(
  engine: Engine,
  tx: Sql,
  ticks: readonly (NewTick & { sourceId: number })[],
  markets: ReadonlyMap<number, Market>,
  revision: number,
): Promise<void> {
  const rows = ticks.map(({ symbolId, sourceId, id, at, received, price }) => {
    return [symbolId, sourceId, id, dayOf(markets, symbolId, at), at, received, price, revision];
  });
  await insertRows(
    engine,
    tx,
    'tick (symbol_id, source_id, tick_id, day, at, received, price, revision)',
    rows,
    'ON CONFLICT DO NOTHING',
  );
  const real = ticks.filter((tick) => tick.sourceId !== SIMULATED_ID).map((tick) => tick.symbolId);
  await markReal(engine, tx, [...new Set(real)], revision);
}

/** Inserts ticks of one source that are known to be new. The caller marks symbols that had no real prices. */
export async function insertFresh(
  engine: Engine,
  tx: Sql,
  ticks: readonly NewTick[],
  { markets, source, revision }: { markets: ReadonlyMap<number, Market>; source: number; revision: number },
): Promise<void> {
  const columns = ['symbol_id', 'tick_id', 'day', 'at', 'received', 'price'];
  const rows = ticks.map(({ symbolId, id, at, received, price }) => {
    return [symbolId, id, dayOf(markets, symbolId, at), at, received, price];
  });
  await insertWithShared(engine, tx, 'tick', columns, rows, { source_id: source, revision });
}

function dayOf(markets: ReadonlyMap<number, Market>, symbolId: number, at: number): Day {
  const market = markets.get(symbolId);
  if (!market) throw new Error(`no symbol has the id ${symbolId}`);
  return tradeDate(market, at);
}
