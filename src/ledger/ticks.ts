import type { Tick } from '../market/bar.ts';
import type { Day } from '../market/day.ts';
import { marketOf, tradeDate } from '../market/session.ts';
import { markReal, type Strand, strandFilter, symbolsWithRealPrices } from './bars.ts';
import type { Engine } from './engine.ts';
import { SIMULATED_ID, sourceId } from './sources.ts';
import { insertRows, nextRevision, ROWS_PER_TRANSACTION } from './statements.ts';

export interface NewTick extends Tick {
  symbolId: number;
}

/** A tick as the ledger keeps it. */
export interface LedgerTick extends NewTick {
  /** The trade date it belongs to. */
  day: Day;
  sourceId: number;
  revision: number;
}

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
    await engine.write(async (tx) => {
      const revision = await nextRevision(tx, 'prices');
      const id = await sourceId(tx, source);
      const symbols = await tx`SELECT id, market FROM symbol`;
      const marketKeys = new Map<number, string>(
        symbols.map((row: { id: number; market: string }) => [Number(row.id), row.market]),
      );
      const real = id === SIMULATED_ID ? await symbolsWithRealPrices(tx) : new Set<number>();
      const rows = ticks
        .filter((tick) => !real.has(tick.symbolId)) // simulated prices never follow real ones
        .map((tick) => {
          const market = marketKeys.get(tick.symbolId);
          if (market === undefined) throw new Error(`no symbol has the id ${tick.symbolId}`);
          const day = tradeDate(marketOf(market), tick.at);
          return [tick.symbolId, id, tick.id, day, tick.at, tick.received, tick.price, revision];
        });
      await insertRows(
        engine,
        tx,
        'tick (symbol_id, source_id, tick_id, day, at, received, price, revision)',
        rows,
        'ON CONFLICT DO NOTHING',
      );
      if (id !== SIMULATED_ID) await markReal(tx, [...new Set(ticks.map((tick) => tick.symbolId))], revision);
    });
  }

  /** The trade dates of a strand that still have ticks. */
  async days(symbolId: number, strand: Strand): Promise<Day[]> {
    const { read, placeholder } = this.#engine;
    const rows = await read.unsafe(
      `SELECT DISTINCT day FROM tick WHERE symbol_id = ${placeholder(1)} AND ${strandFilter(strand)} ORDER BY day`,
      [symbolId],
    );
    return rows.map((row: { day: number }) => row.day);
  }

  /** The ticks of one trade date. */
  async ofDay(symbolId: number, strand: Strand, day: Day): Promise<LedgerTick[]> {
    const rows = await this.#engine.read`
      SELECT symbol_id, source_id, tick_id, day, at, received, price, revision FROM tick
      WHERE symbol_id = ${symbolId} AND day = ${day}`.values();
    return rows
      .map(toTick)
      .filter((tick: LedgerTick) => (tick.sourceId === SIMULATED_ID) === (strand === 'simulated'));
  }

  /** Ticks whose revision is in (after, upTo], in the order of their revisions. */
  async since(after: number, upTo: number): Promise<LedgerTick[]> {
    const rows = await this.#engine.read`
      SELECT symbol_id, source_id, tick_id, day, at, received, price, revision FROM tick
      WHERE revision > ${after} AND revision <= ${upTo} ORDER BY revision`.values();
    return rows.map(toTick);
  }

  /** Every symbol and trade date that has ticks. */
  async openDays(): Promise<{ symbolId: number; day: Day; simulated: boolean }[]> {
    const rows = await this.#engine.read`
      SELECT DISTINCT symbol_id, day, CASE WHEN source_id = ${SIMULATED_ID} THEN 1 ELSE 0 END AS simulated FROM tick`;
    return rows.map((row: Record<string, unknown>) => ({
      symbolId: Number(row.symbol_id),
      day: Number(row.day),
      simulated: Number(row.simulated) === 1,
    }));
  }

  /** Lets go of the ticks of a symbol's trade dates before `day`. */
  async prune(symbolId: number, day: Day): Promise<void> {
    await this.#engine.write(async (tx) => {
      await tx`DELETE FROM tick WHERE symbol_id = ${symbolId} AND day < ${day}`;
    });
  }
}

function toTick(row: unknown[]): LedgerTick {
  return {
    symbolId: Number(row[0]),
    sourceId: Number(row[1]),
    id: String(row[2]),
    day: Number(row[3]),
    at: Number(row[4]),
    received: Number(row[5]),
    price: Number(row[6]),
    revision: Number(row[7]),
  };
}
