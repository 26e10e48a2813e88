import { type Bar, sameOhlc } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import {
  asNumber,
  asText,
  type Cell,
  nullable,
  onlyRow,
  type Row,
  type RowValues,
  type Sql,
} from '../engine/rows.ts';
import { insertAlike, insertRows, ROWS_PER_TRANSACTION } from '../engine/statements.ts';
import { DELETED } from '../symbols/delete-symbol.ts';
import { markReal, originFilter, type PriceOrigin, symbolsWithRealPrices } from '../symbols/origin.ts';
import { SIMULATED_ID, sourceId } from '../symbols/sources.ts';

/** The reason of a bar that was made at settlement, while its session went on: the close of the session replaces it. */
export const PROVISIONAL = 'settlement';

/** Who withdrew a bar: its source, in a later edition or by undoing an import, or the operator. */
export type WithdrawnBy = 'source' | 'operator';

/**
 * One version of one day's bar. The current bar of a day is its highest revision. When that one is withdrawn, the day
 * has no bar; the revision then repeats the prices that were withdrawn.
 */
export interface BarRevision extends Bar {
  revision: number;
  sourceId: number;
  recordedAt: number;
  reason: string | null;
  withdrawn: WithdrawnBy | false;
}

export interface NewBar extends Bar {
  symbolId: number;
}

export interface Publication {
  /** Where the bars come from; `simulated` is the simulator. */
  source: string;
  recordedAt: number;
  /** Why they are published, where it is more than their first appearance. */
  reason?: string;
  /**
   * What a bar must differ from to be written: the day's current bar (unless told otherwise), or the last word of this
   * source on that day. Two feeds that disagree would else rewrite each other at every run.
   */
  comparedWith?: 'current' | 'own';
  /** Told of each bar, in any order, before its transaction is committed. */
  onBar?(bar: NewBar, outcome: BarOutcome): void;
  /** Done first in each transaction; what it throws undoes the transaction. */
  before?(tx: Sql): Promise<void>;
  /** Done last in each transaction that has written bars, with the revision that they got. */
  after?(tx: Sql, revision: number): Promise<void>;
}

export type BarOutcome = 'taken' | 'unchanged' | 'corrected';

export interface PublishResult {
  /** Days that had no bar, or had the same prices from another source. */
  taken: number;
  unchanged: number;
  /** Days whose prices changed. The earlier prices stay as an earlier revision. */
  corrected: number;
}

export interface BarChange {
  symbolId: number;
  firstDay: Day;
  lastDay: Day;
}

export class BarStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Publishes bars, at most one for each symbol and day, in transactions of 2,000. `progress` is told how many are done. */
  async publish(
    bars: readonly NewBar[],
    publication: Publication,
    progress: (done: number) => void = () => {},
  ): Promise<PublishResult> {
    const total: PublishResult = { taken: 0, unchanged: 0, corrected: 0 };
    for (let from = 0; from < bars.length; from += ROWS_PER_TRANSACTION) {
      const chunk = bars.slice(from, from + ROWS_PER_TRANSACTION);
      const result = await this.#engine.writePrices((tx) =>
        publishBars(this.#engine, tx, chunk, publication),
      );
      total.taken += result.taken;
      total.unchanged += result.unchanged;
      total.corrected += result.corrected;
      progress(from + chunk.length);
    }
    return total;
  }

  /** What `publish` would do, without writing anything. */
  async compare(bars: readonly NewBar[], publication: Publication): Promise<PublishResult> {
    const { read } = this.#engine;
    const [source] = await read`SELECT id FROM source WHERE name = ${publication.source}`;
    const id = source === undefined ? NO_SOURCE : asNumber(source.id);
    return (await compareBars(read, bars, publication, id)).result;
  }

  /** All revisions of one origin, or of both, by day and then by revision. */
  async revisions(
    symbolId: number,
    origin: PriceOrigin | 'all',
    firstDay: Day,
    lastDay: Day,
  ): Promise<BarRevision[]> {
    return readRevisions(this.#engine.read, symbolId, origin, firstDay, lastDay);
  }

  /** The first and the last day that ever had a bar of this origin. */
  async span(symbolId: number, origin: PriceOrigin): Promise<{ firstDay: Day; lastDay: Day } | undefined> {
    const first = await this.#edge(symbolId, origin, 'ASC');
    const last = await this.lastDay(symbolId, origin);
    return first === undefined || last === undefined ? undefined : { firstDay: first, lastDay: last };
  }

  /** The first day that has a bar of this origin. Withdrawn bars do not count. */
  async firstDay(symbolId: number, origin: PriceOrigin): Promise<Day | undefined> {
    const { read, placeholder } = this.#engine;
    const [row] = await read.unsafe(
      `SELECT b.day FROM bar b WHERE b.symbol_id = ${placeholder(1)} AND b.${originFilter(origin)}
         AND b.withdrawn = 0 AND NOT EXISTS (
           SELECT 1 FROM bar w WHERE w.symbol_id = b.symbol_id AND w.day = b.day AND w.revision > b.revision
             AND w.withdrawn > 0 AND w.${originFilter(origin)})
       ORDER BY b.day LIMIT 1`,
      [symbolId],
    );
    return row === undefined ? undefined : asNumber(row.day);
  }

  /** The last day that ever had a bar of this origin. */
  lastDay(symbolId: number, origin: PriceOrigin): Promise<Day | undefined> {
    return this.#edge(symbolId, origin, 'DESC');
  }

  async #edge(symbolId: number, origin: PriceOrigin, order: 'ASC' | 'DESC'): Promise<Day | undefined> {
    const { read, placeholder } = this.#engine;
    const [row] = await read.unsafe(
      `SELECT day FROM bar WHERE symbol_id = ${placeholder(1)} AND ${originFilter(origin)} ORDER BY day ${order} LIMIT 1`,
      [symbolId],
    );
    return row === undefined ? undefined : asNumber(row.day);
  }

  /** Which days of which symbols the revisions in (after, upTo] touched. */
  async changes(after: number, upTo: number): Promise<BarChange[]> {
    const rows = await this.#engine.read`
      SELECT symbol_id, min(first_day) AS first_day, max(last_day) AS last_day FROM bar_change
      WHERE revision > ${after} AND revision <= ${upTo} GROUP BY symbol_id`;
    return rows.map((row: Row) => ({
      symbolId: asNumber(row.symbol_id),
      firstDay: asNumber(row.first_day),
      lastDay: asNumber(row.last_day),
    }));
  }

  async count(): Promise<number> {
    const row = onlyRow(await this.#engine.read`SELECT count(*) AS n FROM bar`);
    return asNumber(row.n);
  }
}

/** Publishes within a transaction that is already open. */
export async function publishBars(
  engine: Engine,
  tx: Sql,
  bars: readonly NewBar[],
  publication: Publication,
): Promise<PublishResult> {
  await publication.before?.(tx);
  const revision = await nextRevision(tx, 'prices');
  const source = await sourceId(tx, publication.source);
  const { result, rows, changes } = await compareBars(tx, bars, publication, source);
  if (rows.length === 0) return result;
  await insertAlike(engine, tx, 'bar', ['symbol_id', 'day', 'open', 'high', 'low', 'close'], rows, {
    revision,
    source_id: source,
    recorded_at: publication.recordedAt,
    reason: publication.reason ?? null,
  });
  const changeRows = changes.map((one) => [
    revision,
    one.symbolId,
    one.firstDay,
    one.lastDay,
    publication.recordedAt,
  ]);
  await insertRows(
    engine,
    tx,
    'bar_change (revision, symbol_id, first_day, last_day, recorded_at)',
    changeRows,
  );
  const symbolIds = changes.map(({ symbolId }) => symbolId);
  if (source !== SIMULATED_ID) await markReal(engine, tx, symbolIds, revision);
  await publication.after?.(tx, revision);
  return result;
}

/** Of a name that was never used. */
const NO_SOURCE = -1;

/** What publishing some bars does: how many of each outcome, the rows to write, and the days that they touch. */
async function compareBars(
  tx: Sql,
  bars: readonly NewBar[],
  publication: Publication,
  source: number,
): Promise<{ result: PublishResult; rows: RowValues[]; changes: BarChange[] }> {
  const origin: PriceOrigin = source === SIMULATED_ID ? 'simulated' : 'real';
  const bySymbol = Map.groupBy(bars, (bar) => bar.symbolId);
  await requireSymbols(tx, bySymbol.keys());
  const real = origin === 'simulated' ? await symbolsWithRealPrices(tx) : new Set<number>();
  const result: PublishResult = { taken: 0, unchanged: 0, corrected: 0 };
  const rows: RowValues[] = [];
  const changes: BarChange[] = [];
  for (const [symbolId, ofSymbol] of bySymbol) {
    if (real.has(symbolId)) {
      result.unchanged += ofSymbol.length; // simulated prices never follow real ones
      continue;
    }
    const days = ofSymbol.map((bar) => bar.day);
    const firstDay = Math.min(...days);
    const lastDay = Math.max(...days);
    const current = new Map<Day, BarRevision>();
    const own = new Map<Day, BarRevision>();
    for (const known of await readRevisions(tx, symbolId, origin, firstDay, lastDay)) {
      current.set(known.day, known);
      if (known.sourceId === source) own.set(known.day, known);
    }
    const before = rows.length;
    for (const bar of ofSymbol) {
      const ownWord = publication.comparedWith === 'own' ? own.get(bar.day) : undefined;
      const outcome = outcomeOf(ownWord ?? current.get(bar.day), bar, source, publication.comparedWith);
      result[outcome]++;
      publication.onBar?.(bar, outcome);
      if (outcome === 'unchanged') continue;
      rows.push([symbolId, bar.day, bar.open, bar.high, bar.low, bar.close]);
    }
    const written = rows.slice(before).map((row) => row[1] as Day);
    if (written.length > 0) {
      changes.push({ symbolId, firstDay: Math.min(...written), lastDay: Math.max(...written) });
    }
  }
  return { result, rows, changes };
}

/**
 * What publishing a bar does to a day. A withdrawn day is free for any bar, with one exception: a feed that repeats what
 * the operator withdrew does not bring it back.
 */
function outcomeOf(
  known: BarRevision | undefined,
  bar: Bar,
  source: number,
  comparedWith: Publication['comparedWith'],
): BarOutcome {
  if (!known) return 'taken';
  const samePrices = sameOhlc(known, bar);
  const repeats = samePrices && known.sourceId === source;
  if (known.withdrawn) {
    return repeats && known.withdrawn === 'operator' && comparedWith === 'own' ? 'unchanged' : 'taken';
  }
  if (repeats) return 'unchanged';
  return samePrices ? 'taken' : 'corrected';
}

async function requireSymbols(tx: Sql, ids: Iterable<number>): Promise<void> {
  const rows = await tx`SELECT id FROM symbol WHERE status <> ${DELETED}`;
  const known = new Set(rows.map((row) => asNumber(row.id)));
  for (const id of ids) if (!known.has(id)) throw new Error(`no symbol has the id ${id}`);
}

/** All revisions of one origin, or of both, by day and then by revision. */
export async function readRevisions(
  handle: Sql,
  symbolId: number,
  origin: PriceOrigin | 'all',
  firstDay: Day,
  lastDay: Day,
): Promise<BarRevision[]> {
  const rows = await handle`
    SELECT day, revision, open, high, low, close, source_id, recorded_at, reason, withdrawn FROM bar
    WHERE symbol_id = ${symbolId} AND day >= ${firstDay} AND day <= ${lastDay}
    ORDER BY day, revision`.values();
  const found: BarRevision[] = [];
  for (const row of rows) {
    const isSimulated = asNumber(row[6]) === SIMULATED_ID;
    if (origin === 'all' || isSimulated === (origin === 'simulated')) found.push(toRevision(row));
  }
  return found;
}

/** From a row as the statements for revisions select it. */
export function toRevision(row: readonly Cell[]): BarRevision {
  const [day, revision, open, high, low, close, sourceId, recordedAt, reason, withdrawn] = row;
  return {
    day: asNumber(day),
    revision: asNumber(revision),
    open: asNumber(open),
    high: asNumber(high),
    low: asNumber(low),
    close: asNumber(close),
    sourceId: asNumber(sourceId),
    recordedAt: asNumber(recordedAt),
    reason: readReason(reason),
    withdrawn: WITHDRAWN[asNumber(withdrawn)] ?? false,
  };
}

const readReason = nullable(asText);

/** By the number in the column `withdrawn`. */
export const WITHDRAWN: readonly (WithdrawnBy | false)[] = [false, 'source', 'operator'];
