import { type Bar, sameOhlc } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asNumber, type RowValues, type Sql } from '../engine/rows.ts';
import { insertRows, insertWithShared } from '../engine/statements.ts';
import { DELETED } from '../symbols/delete-symbol.ts';
import { markReal, type PriceOrigin, symbolsWithRealPrices } from '../symbols/origin.ts';
import { SIMULATED_ID, sourceId } from '../symbols/sources.ts';
import { type BarChange, type BarRevision, type NewBar, readRevisions } from './bars.ts';

export interface Publication {
  /** Where the bars come from; `simulated` is the simulator. */
  source: string;
  /** When they were recorded: all at the same time, or each at its own. */
  recordedAt: number | ((bar: NewBar) => number);
  /** Stored with each revision: why, or by which run, it was written. */
  reason?: string;
  /**
   * What a bar must differ from to be written: the day's current bar (the default), or this source's own newest bar of
   * the day. Without `own`, two feeds that disagree would overwrite each other with every run. With `any`, only days that
   * never had a bar are written.
   */
  comparedWith?: 'current' | 'own' | 'any';
  /** Called for each bar, in any order, before its transaction is committed. */
  onBar?(bar: NewBar, outcome: BarOutcome): void;
  /** Runs first in each transaction; an exception rolls it back. */
  before?(tx: Sql): Promise<void>;
  /** Runs last in each transaction that has written bars, with their revision. */
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

/** Publishes in an open transaction. */
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
  await insertWithShared(engine, tx, 'bar', BAR_COLUMNS, rows, {
    revision,
    source_id: source,
    reason: publication.reason ?? null,
  });
  const changeRows = changes.map((one) => [
    revision,
    one.symbolId,
    one.firstDay,
    one.lastDay,
    one.recordedFrom,
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

const BAR_COLUMNS = ['symbol_id', 'day', 'open', 'high', 'low', 'close', 'recorded_at'];

/** The days of a symbol that are written together, and when the first of them was recorded. */
interface WrittenDays extends BarChange {
  recordedFrom: number;
}

/** The id of a source name that was never used. */
export const NO_SOURCE = -1;

/** Compares bars with the ledger: how many of each outcome, the rows to write, and the days that they change. */
export async function compareBars(
  tx: Sql,
  bars: readonly NewBar[],
  publication: Publication,
  source: number,
): Promise<{ result: PublishResult; rows: RowValues[]; changes: WrittenDays[] }> {
  const origin: PriceOrigin = source === SIMULATED_ID ? 'simulated' : 'real';
  const bySymbol = Map.groupBy(bars, (bar) => bar.symbolId);
  await requireSymbols(tx, new Set(bySymbol.keys()));
  const real = origin === 'simulated' ? await symbolsWithRealPrices(tx) : new Set<number>();
  const result: PublishResult = { taken: 0, unchanged: 0, corrected: 0 };
  const rows: RowValues[] = [];
  const changes: WrittenDays[] = [];
  const { recordedAt } = publication;
  const timeOf = typeof recordedAt === 'number' ? () => recordedAt : recordedAt;
  for (const [symbolId, ofSymbol] of bySymbol) {
    if (real.has(symbolId)) {
      result.unchanged += ofSymbol.length; // simulated prices are never written after real ones
      continue;
    }
    const current = new Map<Day, BarRevision>();
    const own = new Map<Day, BarRevision>();
    for (const { firstDay, lastDay } of spansOf(ofSymbol)) {
      for (const known of await readRevisions(tx, symbolId, origin, firstDay, lastDay)) {
        current.set(known.day, known);
        if (known.sourceId === source) own.set(known.day, known);
      }
    }
    const before = rows.length;
    for (const bar of ofSymbol) {
      const ownWord = publication.comparedWith === 'own' ? own.get(bar.day) : undefined;
      const outcome = outcomeOf(ownWord ?? current.get(bar.day), bar, source, publication.comparedWith);
      result[outcome]++;
      publication.onBar?.(bar, outcome);
      if (outcome === 'unchanged') continue;
      rows.push([symbolId, bar.day, bar.open, bar.high, bar.low, bar.close, timeOf(bar)]);
    }
    const written = rows.slice(before);
    if (written.length > 0) {
      const days = written.map((row) => row[1] as Day);
      const recordedFrom = Math.min(...written.map((row) => row[6] as number));
      changes.push({ symbolId, firstDay: Math.min(...days), lastDay: Math.max(...days), recordedFrom });
    }
  }
  return { result, rows, changes };
}

/**
 * What publishing a bar does to its day. A withdrawn day accepts any bar, with one exception: a feed cannot restore what
 * the operator withdrew by repeating it.
 */
function outcomeOf(
  known: BarRevision | undefined,
  bar: Bar,
  source: number,
  comparedWith: Publication['comparedWith'],
): BarOutcome {
  if (!known) return 'taken';
  if (comparedWith === 'any') return 'unchanged';
  const samePrices = sameOhlc(known, bar);
  const repeats = samePrices && known.sourceId === source;
  if (known.withdrawn) {
    return repeats && known.withdrawn === 'operator' && comparedWith === 'own' ? 'unchanged' : 'taken';
  }
  if (repeats) return 'unchanged';
  return samePrices ? 'taken' : 'corrected';
}

/** Reading the bars of this many days costs about as much as another statement. */
const GAP_DAYS_MAX = 60;

/** The days of bars, without the long gaps between them: corrections are years apart. */
function spansOf(bars: readonly NewBar[]): { firstDay: Day; lastDay: Day }[] {
  const spans: { firstDay: Day; lastDay: Day }[] = [];
  for (const day of bars.map((bar) => bar.day).sort((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last && day - last.lastDay <= GAP_DAYS_MAX) last.lastDay = day;
    else spans.push({ firstDay: day, lastDay: day });
  }
  return spans;
}

async function requireSymbols(tx: Sql, ids: Set<number>): Promise<void> {
  if (ids.size === 0) return;
  const [lowest, highest] = [Math.min(...ids), Math.max(...ids)];
  const rows = await tx`
    SELECT id FROM symbol WHERE status <> ${DELETED} AND id >= ${lowest} AND id <= ${highest}`;
  const known = new Set(rows.map((row) => asNumber(row.id)));
  for (const id of ids) if (!known.has(id)) throw new Error(`no symbol has the id ${id}`);
}
