import { type Fold, foldTick } from '../../market/bar.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, type Cell, type Sql } from '../engine/rows.ts';
import { originFilter } from '../prices/bars.ts';
import type { LedgerTick, TradingDay } from './rows.ts';

/** A day's ticks, folded in the database. */
export interface FoldedDay extends Fold<LedgerTick> {
  /** Of all its ticks, the lowest. */
  firstRevision: number;
}

/** About 1 ms for SQLite to aggregate, from the index alone. */
const TICKS_PER_PAGE = 4_000;

/** Which of a day's ticks are folded: those made after `madeAfter`, by `madeBy`, and received by `receivedBy`; all in ms. */
export interface FoldLimits {
  madeAfter?: number;
  madeBy: number;
  receivedBy: number;
  /** Called with each tick that is not folded, in order of `at`. Without it, those ticks are not read. */
  onOther?(tick: LedgerTick): void;
  /** Stops between two pages; the result is then undefined. */
  signal?: AbortSignal;
}

/**
 * Folds one day's ticks inside the database, one page of the index `tick_by_day` at a time:
 *
 *     at   ──►  [ page ][ page ][ page ]…      low, high, first and last moment of each page: one row
 *                  │ yield │ yield │           the opening and the closing tick are read at the end
 *
 * The cost does not depend on the order of the rows on disk. Between pages, other work on this thread gets its turn.
 * Ticks that are inserted meanwhile may or may not be in the fold.
 */
export async function foldDay(
  engine: Engine,
  of: TradingDay,
  limits: FoldLimits,
): Promise<FoldedDay | undefined> {
  const pages = new DayPages(engine, of);
  let sum: Summary | undefined;
  for (let after = limits.madeAfter ?? Number.MIN_SAFE_INTEGER; ; ) {
    if (shouldYield()) await yieldToRequests();
    if (limits.signal?.aborted) return undefined;
    const page: Range = { after, upTo: await pages.end(after) };
    const folded = await pages.summary(page, limits);
    if (folded) sum = sum ? combine(sum, folded) : folded;
    if (limits.onOther && (await pages.hasOthers(page, limits))) {
      for (const tick of await pages.others(page, limits)) limits.onOther(tick);
    }
    if (page.upTo === LAST_MOMENT) break;
    after = page.upTo;
  }
  if (!sum) return undefined;
  const open = firstOf(await pages.at(sum.firstAt, limits));
  const close = lastOf(await pages.at(sum.lastAt, limits));
  return { open, close, high: sum.high, low: sum.low, firstRevision: sum.firstRevision };
}

/** The fold with one more tick, if that is within the limits. */
export function withTick(
  folded: FoldedDay | undefined,
  tick: LedgerTick,
  { madeAfter = Number.MIN_SAFE_INTEGER, madeBy, receivedBy }: FoldLimits,
): FoldedDay | undefined {
  if (tick.at <= madeAfter || tick.at > madeBy || tick.received > receivedBy) return folded;
  const firstRevision = Math.min(folded?.firstRevision ?? tick.revision, tick.revision);
  return { ...foldTick<LedgerTick>(folded, tick), firstRevision };
}

/** Ticks with `after < at ≤ upTo`. */
interface Range {
  after: number;
  upTo: number;
}

interface Summary {
  low: number;
  high: number;
  firstAt: number;
  lastAt: number;
  firstRevision: number;
}

const SUMMARY_COLUMNS = 'min(price), max(price), min(at), max(at), min(revision)';

/** Those in which the ticks of one day differ. */
const OWN_COLUMNS = 'source_id, tick_id, at, received, price, revision';

const LAST_MOMENT = Number.MAX_SAFE_INTEGER;

/** The statements that read the ticks of one trading day. */
class DayPages {
  readonly #read: Sql;
  readonly #placeholder: Engine['placeholder'];
  readonly #of: TradingDay;

  constructor({ read, placeholder }: Engine, of: TradingDay) {
    this.#read = read;
    this.#placeholder = placeholder;
    this.#of = of;
  }

  /** Where the page that begins after a moment ends. Ticks of one moment are never divided. */
  async end(after: number): Promise<number> {
    const { symbolId, day } = this.#of;
    const [row] = await this.#read`
      SELECT at FROM tick WHERE symbol_id = ${symbolId} AND day = ${day} AND at > ${after}
      ORDER BY at LIMIT 1 OFFSET ${TICKS_PER_PAGE - 1}`.values();
    return row ? asNumber(row[0]) : LAST_MOMENT;
  }

  async summary({ after, upTo }: Range, { madeBy, receivedBy }: FoldLimits): Promise<Summary | undefined> {
    if (after >= madeBy) return undefined;
    const [row] = await this.#select(SUMMARY_COLUMNS, 'AND received <= {3}', [
      after,
      Math.min(upTo, madeBy),
      receivedBy,
    ]);
    if (!row || row[0] === null) return undefined;
    const [low, high, firstAt, lastAt, firstRevision] = row.map(asNumber);
    return { low: low!, high: high!, firstAt: firstAt!, lastAt: lastAt!, firstRevision: firstRevision! };
  }

  /** From the index alone: `others` would have PostgreSQL fetch every row of the page. */
  async hasOthers({ after, upTo }: Range, { madeBy, receivedBy }: FoldLimits): Promise<boolean> {
    const rest = 'AND (at > {3} OR received > {4}) LIMIT 1';
    return (await this.#select('1', rest, [after, upTo, madeBy, receivedBy])).length > 0;
  }

  async others({ after, upTo }: Range, { madeBy, receivedBy }: FoldLimits): Promise<LedgerTick[]> {
    const rows = await this.#select(OWN_COLUMNS, 'AND (at > {3} OR received > {4}) ORDER BY at', [
      after,
      upTo,
      madeBy,
      receivedBy,
    ]);
    return rows.map((row) => this.#toTick(row));
  }

  /** The ticks of one moment that are folded. */
  async at(moment: number, { receivedBy }: FoldLimits): Promise<LedgerTick[]> {
    const rows = await this.#select(OWN_COLUMNS, 'AND received <= {3}', [moment - 1, moment, receivedBy]);
    return rows.map((row) => this.#toTick(row));
  }

  #toTick(row: readonly Cell[]): LedgerTick {
    const { symbolId, day } = this.#of;
    return {
      symbolId,
      day,
      sourceId: asNumber(row[0]),
      id: asText(row[1]),
      at: asNumber(row[2]),
      received: asNumber(row[3]),
      price: asNumber(row[4]),
      revision: asNumber(row[5]),
    };
  }

  /** `{n}` stands for the n-th of `values`, of which the first two bound `at`. */
  #select(columns: string, rest: string, values: readonly number[]): Promise<Cell[][]> {
    const { symbolId, origin, day } = this.#of;
    const condition = `at > {1} AND at <= {2} ${rest}`;
    const numbered = condition.replace(/\{(\d)\}/g, (_, n) => this.#placeholder(Number(n) + 2));
    const where = `symbol_id = ${this.#placeholder(1)} AND day = ${this.#placeholder(2)} AND ${originFilter(origin)}`;
    return this.#read
      .unsafe(`SELECT ${columns} FROM tick WHERE ${where} AND ${numbered}`, [symbolId, day, ...values])
      .values();
  }
}

function combine(a: Summary, b: Summary): Summary {
  return {
    low: Math.min(a.low, b.low),
    high: Math.max(a.high, b.high),
    firstAt: Math.min(a.firstAt, b.firstAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
    firstRevision: Math.min(a.firstRevision, b.firstRevision),
  };
}

function firstOf(ticks: readonly LedgerTick[]): LedgerTick {
  return foldAll(ticks).open;
}

function lastOf(ticks: readonly LedgerTick[]): LedgerTick {
  return foldAll(ticks).close;
}

/** The rule for ticks of one moment is that of `foldTick`. The source that was known first goes first. */
function foldAll(ticks: readonly LedgerTick[]): Fold<LedgerTick> {
  let fold: Fold<LedgerTick> | undefined;
  for (const tick of ticks.toSorted((a, b) => a.sourceId - b.sourceId)) fold = foldTick(fold, tick);
  return fold!;
}
