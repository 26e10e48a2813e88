import { type Fold, foldTick } from '../../market/bar.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, type Cell, type Sql } from '../engine/rows.ts';
import { originFilter, type TradingDay } from '../symbols/origin.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import type { LedgerTick } from './rows.ts';

/** A day's ticks, folded in the database. */
export interface FoldedDay extends Fold<LedgerTick> {
  /** The lowest revision of its ticks. */
  firstRevision: number;
}

/** For SQLite, less than 1 ms to aggregate from the index alone, and about 5 ms to return one by one. */
const TICKS_PER_PAGE = 2_000;

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
 *     at   ──►  [ page ][ page ][ page ]…      one row for each: its end, low, high, first and last moment
 *                  │ yield │ yield │           the opening and the closing tick are read at the end
 *
 * The cost does not depend on the order of the rows on disk. The thread yields to requests between pages.
 * Ticks that are inserted during the fold may or may not be included.
 */
export async function foldDay(
  engine: Engine,
  of: TradingDay,
  limits: FoldLimits,
): Promise<FoldedDay | undefined> {
  const pages = new DayPages(engine, of, limits);
  let sum: Summary | undefined;
  for (let after = limits.madeAfter ?? Number.MIN_SAFE_INTEGER; after < LAST_MOMENT; ) {
    if (shouldYield()) await yieldToRequests();
    if (limits.signal?.aborted) return undefined;
    const page = await pages.next(after);
    if (page.summary) sum = sum ? combine(sum, page.summary) : page.summary;
    for (const tick of page.others) limits.onOther?.(tick);
    after = page.upTo;
  }
  if (!sum) return undefined;
  const open = firstOf(await pages.at(sum.firstAt));
  const close = lastOf(await pages.at(sum.lastAt));
  return { open, close, high: sum.high, low: sum.low, firstRevision: sum.firstRevision };
}

/** Adds one tick to the fold, if it is within the limits. */
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

/** What one statement tells of a range. */
interface RangeSummary {
  /** Of the ticks of either origin that were looked at: how many, and the moment of the last one. */
  count: number;
  lastAt: number;
  /** Of the ticks that are folded; undefined when none are. */
  summary: Summary | undefined;
  /** Whether there are ticks of the same origin that are not folded. */
  hasOthers: boolean;
}

interface Page {
  /** The page ends with this moment. */
  upTo: number;
  /** Of the ticks that are folded; undefined when none are. */
  summary: Summary | undefined;
  /** The ticks that are not folded, in order of `at`, if they are wanted. */
  others: readonly LedgerTick[];
}

const SUMMARY = ['count(*)', 'min(price)', 'max(price)', 'min(at)', 'max(at)', 'min(revision)'];

/** Those in which the ticks of one day differ. */
const OWN_COLUMNS = 'source_id, tick_id, at, received, price, revision';

const LAST_MOMENT = Number.MAX_SAFE_INTEGER;

/** The statements that read the ticks of one trading day. */
class DayPages {
  readonly #read: Sql;
  readonly #placeholder: Engine['placeholder'];
  readonly #of: TradingDay;
  readonly #limits: FoldLimits;
  /** Whether none of the last page's ticks were folded, so that those of the next page are wanted one by one, too. */
  #isTickByTick = false;

  constructor({ read, placeholder }: Engine, of: TradingDay, limits: FoldLimits) {
    this.#read = read;
    this.#placeholder = placeholder;
    this.#of = of;
    this.#limits = limits;
  }

  /**
   * The page that begins after a moment. It ends before the moment of its last tick, whose ticks may not all be in it; their
   * prices are summed up with both pages, which changes neither a minimum nor a maximum. A moment that fills a page is read
   * as a whole.
   */
  async next(after: number): Promise<Page> {
    if (this.#isTickByTick) {
      const page = await this.#tickByTick(after);
      if (page) return page;
    }
    const first = await this.#summary({ after, upTo: LAST_MOMENT }, TICKS_PER_PAGE);
    if (first.count < TICKS_PER_PAGE) return this.#withOthers(first, { after, upTo: LAST_MOMENT });
    const { lastAt } = first;
    if (lastAt - 1 > after) return this.#withOthers(first, { after, upTo: lastAt - 1 });
    const moment = { after, upTo: lastAt };
    return this.#withOthers(await this.#summary(moment, LAST_MOMENT), moment);
  }

  async #withOthers({ summary, hasOthers }: RangeSummary, range: Range): Promise<Page> {
    const areWanted = hasOthers && this.#limits.onOther !== undefined;
    this.#isTickByTick = areWanted && summary === undefined;
    return { upTo: range.upTo, summary, others: areWanted ? await this.#others(range) : [] };
  }

  /** Reads a page with one statement, which pays off where hardly any tick is folded. Undefined if one moment fills the page. */
  async #tickByTick(after: number): Promise<Page | undefined> {
    const { symbolId, origin, day } = this.#of;
    const rows = await this.#read`
      SELECT source_id, tick_id, at, received, price, revision FROM tick
      WHERE symbol_id = ${symbolId} AND day = ${day} AND at > ${after} AND at <= ${LAST_MOMENT}
      ORDER BY at LIMIT ${TICKS_PER_PAGE}`.values();
    const ticks = rows.map((row) => this.#toTick(row));
    const isLast = ticks.length < TICKS_PER_PAGE;
    const upTo = isLast ? LAST_MOMENT : ticks.at(-1)!.at - 1;
    if (upTo <= after) return undefined;
    const { madeBy, receivedBy } = this.#limits;
    const others: LedgerTick[] = [];
    let summary: Summary | undefined;
    for (const tick of ticks) {
      if (tick.at > upTo || (tick.sourceId === SIMULATED_ID) !== (origin === 'simulated')) continue;
      if (tick.at > madeBy || tick.received > receivedBy) others.push(tick);
      else summary = summary ? combine(summary, summaryOf(tick)) : summaryOf(tick);
    }
    this.#isTickByTick = summary === undefined;
    return { upTo, summary, others };
  }

  /** Of the first ticks in a range, at most `ticksMax`. The limit counts ticks of the other origin, too. */
  async #summary({ after, upTo }: Range, ticksMax: number): Promise<RangeSummary> {
    const { madeBy, receivedBy } = this.#limits;
    const { symbolId, origin, day } = this.#of;
    const p = this.#placeholder;
    // The upper bound of `at` also keeps PostgreSQL, as long as it has no statistics, from sorting the whole day for each page.
    const [row] = await this.#read
      .unsafe(
        `SELECT count(*), max(at), count(*) FILTER (WHERE ${originFilter(origin)}),
           ${SUMMARY.map((sum) => `${sum} FILTER (WHERE ${originFilter(origin)} AND is_folded)`).join(', ')}
         FROM (
           SELECT at, price, revision, source_id, at <= ${p(1)} AND received <= ${p(2)} AS is_folded FROM tick
           WHERE symbol_id = ${p(3)} AND day = ${p(4)} AND at > ${p(5)} AND at <= ${p(6)}
           ORDER BY at LIMIT ${p(7)}) page`,
        [madeBy, receivedBy, symbolId, day, after, upTo, ticksMax],
      )
      .values();
    const [count, lastAt, ofOrigin, folded, ...sums] = row!.map((cell) =>
      cell === null ? Number.NaN : asNumber(cell),
    );
    const [low, high, firstAt, lastFoldedAt, firstRevision] = sums;
    return {
      count: count!,
      lastAt: lastAt!,
      hasOthers: ofOrigin! > folded!,
      summary: folded
        ? { low: low!, high: high!, firstAt: firstAt!, lastAt: lastFoldedAt!, firstRevision: firstRevision! }
        : undefined,
    };
  }

  async #others({ after, upTo }: Range): Promise<LedgerTick[]> {
    const { madeBy, receivedBy } = this.#limits;
    return this.#ticks(`(at > {3} OR received > {4}) ORDER BY at`, [after, upTo, madeBy, receivedBy]);
  }

  /** The ticks of one moment that are folded. */
  at(moment: number): Promise<LedgerTick[]> {
    return this.#ticks('received <= {3}', [moment - 1, moment, this.#limits.receivedBy]);
  }

  /** `{n}` stands for the n-th of `values`, of which the first two bound `at`. */
  async #ticks(rest: string, values: readonly number[]): Promise<LedgerTick[]> {
    const { symbolId, origin, day } = this.#of;
    const condition = `at > {1} AND at <= {2} AND ${rest}`;
    const numbered = condition.replace(/\{(\d)\}/g, (_, n) => this.#placeholder(Number(n) + 2));
    const where = `symbol_id = ${this.#placeholder(1)} AND day = ${this.#placeholder(2)} AND ${originFilter(origin)}`;
    const rows = await this.#read
      .unsafe(`SELECT ${OWN_COLUMNS} FROM tick WHERE ${where} AND ${numbered}`, [symbolId, day, ...values])
      .values();
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
}

function summaryOf({ price, at, revision }: LedgerTick): Summary {
  return { low: price, high: price, firstAt: at, lastAt: at, firstRevision: revision };
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
