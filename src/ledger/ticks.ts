import type { SQL } from 'bun';
import type { Fold } from '../market/bar.ts';
import type { Day } from '../market/day.ts';
import { type Market, marketOf, tradeDate } from '../market/session.ts';
import { turns } from '../turns.ts';
import { markReal, PROVISIONAL, type Strand, strandFilter, symbolsWithRealPrices } from './bars.ts';
import type { Engine } from './engine.ts';
import { SIMULATED_ID, sourceId } from './sources.ts';
import { insertAlike, insertRows, lockRevisions, nextRevision, ROWS_PER_TRANSACTION } from './statements.ts';
import { type FoldLimits, foldDay } from './ticks/fold-day.ts';
import { type LedgerTick, type NewTick, type StrandDay, toTick } from './ticks/rows.ts';

export type { LedgerTick, NewTick, StrandDay } from './ticks/rows.ts';

/** About 1 ms on SQLite. */
const TICKS_PER_PAGE = 500;

export class TickStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Appends ticks, in transactions of 2,000. One that is already there, by symbol, source and id, changes nothing. */
  async append(ticks: readonly NewTick[], source: string): Promise<void> {
    for (let from = 0; from < ticks.length; from += ROWS_PER_TRANSACTION) {
      await this.#appendSome(ticks.slice(from, from + ROWS_PER_TRANSACTION), source);
    }
  }

  async #appendSome(ticks: readonly NewTick[], source: string): Promise<void> {
    const engine = this.#engine;
    await engine.takeIn(async (tx) => {
      const revision = await nextRevision(tx, 'prices');
      const id = await sourceId(tx, source);
      const real = id === SIMULATED_ID ? await symbolsWithRealPrices(tx) : new Set<number>();
      const markets = await marketsOf(tx);
      // Simulated prices never follow real ones.
      const taken = ticks
        .filter((tick) => !real.has(tick.symbolId))
        .map((tick) => ({ ...tick, sourceId: id }));
      await insertTicks(engine, tx, taken, markets, revision);
    });
  }

  /** The trade dates of a strand that still have ticks, found by skipping through the index from day to day. */
  async days(symbolId: number, strand: Strand): Promise<Day[]> {
    const { read, placeholder: p } = this.#engine;
    const rows = await read.unsafe(
      `WITH RECURSIVE found (day) AS (
         SELECT min(day) FROM tick WHERE symbol_id = ${p(1)}
         UNION ALL
         SELECT (SELECT min(day) FROM tick WHERE symbol_id = ${p(2)} AND day > found.day)
         FROM found WHERE found.day IS NOT NULL)
       SELECT day FROM found WHERE day IS NOT NULL AND EXISTS (
         SELECT 1 FROM tick t WHERE t.symbol_id = ${p(3)} AND t.day = found.day AND t.${strandFilter(strand)})
       ORDER BY day`,
      [symbolId, symbolId, symbolId],
    );
    return rows.map((row: { day: number }) => row.day);
  }

  /** Folds the ticks of one trade date, a bounded page at a time. */
  fold(of: StrandDay, limits: FoldLimits): Promise<Fold<LedgerTick> | undefined> {
    return foldDay(this.#engine, of, limits);
  }

  /** The ticks of one trade date. */
  async ofDay(symbolId: number, strand: Strand, day: Day): Promise<LedgerTick[]> {
    return readTicks(this.#engine.read, { symbolId, strand, day });
  }

  /** Ticks whose revision is in (after, upTo], in the order of their revisions. */
  async since(after: number, upTo: number): Promise<LedgerTick[]> {
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
      if (turns.isOver) await turns.next(); // SQLite works on this thread: a second's ticks in one go would be a pause
      if (rows.length < TICKS_PER_PAGE) return found;
      ({ revision, symbolId, sourceId, id } = found.at(-1)!);
    }
  }

  /**
   * The days whose ticks of revisions in (after, upTo] are in no bar of their strand yet: there is no bar, or a tick
   * is newer than it, or the bar is provisional.
   */
  async unfolded(after: number, upTo: number): Promise<StrandDay[]> {
    const rows = await this.#engine.read`
      SELECT t.symbol_id, t.day, t.simulated FROM (
        SELECT symbol_id, day, CASE WHEN source_id = ${SIMULATED_ID} THEN 1 ELSE 0 END AS simulated,
          max(revision) AS newest
        FROM tick WHERE revision > ${after} AND revision <= ${upTo} GROUP BY 1, 2, 3) t
      WHERE NOT EXISTS (
        SELECT 1 FROM bar b WHERE b.symbol_id = t.symbol_id AND b.day = t.day AND b.revision > t.newest
          AND (b.reason IS NULL OR b.reason <> ${PROVISIONAL})
          AND CASE WHEN b.source_id = ${SIMULATED_ID} THEN 1 ELSE 0 END = t.simulated)`;
    return rows.map(toStrandDay);
  }

  /** The days before `day` that still have ticks. */
  async daysBefore(day: Day): Promise<StrandDay[]> {
    const rows = await this.#engine.read`
      SELECT DISTINCT symbol_id, day, CASE WHEN source_id = ${SIMULATED_ID} THEN 1 ELSE 0 END AS simulated
      FROM tick WHERE day < ${day}`;
    return rows.map(toStrandDay);
  }

  /**
   * Lets go of a day's ticks, all or none: only when the day has a bar or will never need one, and none of them was
   * received after `receivedBy`. True when it did.
   */
  async prune({ symbolId, strand, day }: StrandDay, receivedBy: number): Promise<boolean> {
    const { write, placeholder: p } = this.#engine;
    return write(async (tx) => {
      await lockRevisions(tx, 'prices'); // no tick comes in between
      const outOfUse = strand === 'simulated' && (await symbolsWithRealPrices(tx)).has(symbolId) ? 1 : 0;
      const ofDay = (name: string, from: number) =>
        `${name}.symbol_id = ${p(from)} AND ${name}.day = ${p(from + 1)} AND ${name}.${strandFilter(strand)}`;
      const gone = await tx.unsafe(
        `DELETE FROM tick WHERE ${ofDay('tick', 1)}
           AND (EXISTS (SELECT 1 FROM bar b WHERE ${ofDay('b', 3)}) OR ${p(5)} = 1)
           AND NOT EXISTS (SELECT 1 FROM tick t WHERE ${ofDay('t', 6)} AND t.received > ${p(8)})
         RETURNING tick_id`,
        [symbolId, day, symbolId, day, outOfUse, symbolId, day, receivedBy],
      );
      return gone.length > 0;
    });
  }
}

/** The market of each symbol. */
export async function marketsOf(tx: SQL): Promise<Map<number, Market>> {
  const rows = await tx`SELECT id, market FROM symbol`;
  return new Map(rows.map((row: { id: number; market: string }) => [Number(row.id), marketOf(row.market)]));
}

/** Inserts ticks within a transaction that is already open. Those that are there already change nothing. */
export async function insertTicks(
  engine: Engine,
  tx: SQL,
  ticks: readonly (NewTick & { sourceId: number })[],
  markets: ReadonlyMap<number, Market>,
  revision: number,
): Promise<void> {
  const rows = ticks.map(({ symbolId, sourceId, id, at, received, price }) => {
    const market = markets.get(symbolId);
    if (!market) throw new Error(`no symbol has the id ${symbolId}`);
    return [symbolId, sourceId, id, tradeDate(market, at), at, received, price, revision];
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

/** The same for ticks of one real source of which it is known that none is there yet. */
export async function insertFresh(
  engine: Engine,
  tx: SQL,
  ticks: readonly NewTick[],
  { markets, source, revision }: { markets: ReadonlyMap<number, Market>; source: number; revision: number },
): Promise<void> {
  const columns = ['symbol_id', 'tick_id', 'day', 'at', 'received', 'price'];
  const rows = ticks.map(({ symbolId, id, at, received, price }) => {
    return [symbolId, id, tradeDate(markets.get(symbolId)!, at), at, received, price];
  });
  await insertAlike(engine, tx, 'tick', columns, rows, { source_id: source, revision });
  await markReal(engine, tx, [...new Set(ticks.map((tick) => tick.symbolId))], revision);
}

/** The ticks of one trade date. */
export async function readTicks(handle: SQL, { symbolId, strand, day }: StrandDay): Promise<LedgerTick[]> {
  const rows = await handle`
    SELECT symbol_id, source_id, tick_id, day, at, received, price, revision FROM tick
    WHERE symbol_id = ${symbolId} AND day = ${day}`.values();
  return rows
    .map(toTick)
    .filter((tick: LedgerTick) => (tick.sourceId === SIMULATED_ID) === (strand === 'simulated'));
}

function toStrandDay(row: Record<string, unknown>): StrandDay {
  return {
    symbolId: Number(row.symbol_id),
    day: Number(row.day),
    strand: Number(row.simulated) === 1 ? 'simulated' : 'real',
  };
}
