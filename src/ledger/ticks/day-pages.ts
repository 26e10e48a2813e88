import type { Engine } from '../engine/engine.ts';
import { asNumber, asText, type Cell, onlyRow } from '../engine/rows.ts';
import { originFilter, type TradingDay } from '../symbols/origin.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import { FIRST_MOMENT, LAST_MOMENT, OWN_COLUMNS, pageAfter, WITHOUT_MOMENT } from './page-statements.ts';
import type { LedgerTick } from './tick.ts';

/** For SQLite, less than 1 ms to aggregate from the index alone, and about 3 ms to return one by one. */
const TICKS_PER_PAGE = 1_000;
/** Where all ticks of a page are returned. PostgreSQL reads three pages at the same time, and this thread decodes them. */
const RETURNED_PER_PAGE = 500;

/** Which of a day's ticks are folded: those made by `madeBy`, and received by `receivedBy`; all in ms. */
export interface FoldLimits {
  /** Ticks received up to this moment do not count at all: they were withdrawn. */
  receivedAfter?: number;
  madeBy: number;
  receivedBy: number;
  /** Called with each tick that is not folded, in order of `at`. Without it, those ticks are not read. */
  onOther?(tick: LedgerTick): void;
  /** Called before each page but the first. The fold continues when it resolves. */
  onNextPage?(): Promise<void>;
  /** Stops between two pages; the result is then undefined. */
  signal?: AbortSignal;
}

/** Ticks with `after < at ≤ upTo`. */
export interface MomentRange {
  after: number;
  upTo: number;
}

export interface Summary {
  low: number;
  high: number;
  firstAt: number;
  lastAt: number;
  firstRevision: number;
}

/** What one statement returns for a range. */
interface RangeSummary {
  /** How many ticks of either origin were read, and the moment of the last one. */
  count: number;
  lastAt: number;
  /** Of the ticks that are folded; undefined when none are. */
  summary: Summary | undefined;
  /** Whether there are ticks of the same origin that are not folded. */
  hasOthers: boolean;
}

export interface DayPage {
  /** The page ends with this moment. */
  upTo: number;
  /** Of the ticks that are folded; undefined when none are. */
  summary: Summary | undefined;
  /** Whether there are ticks of the same origin that are not folded. */
  hasOthers: boolean;
  /** These ticks, in order of `at`, if they are wanted. */
  others: readonly LedgerTick[];
}

const SUMMARY = ['count(*)', 'min(price)', 'max(price)', 'min(at)', 'max(at)', 'min(revision)'];

/** The statements that read the ticks of one trading day, up to a moment. */
export class DayPages {
  readonly #engine: Engine;
  readonly #of: TradingDay;
  readonly #limits: FoldLimits;
  readonly #end: number;
  /** Whether no tick of the last page was folded. The ticks of the next page are then probably needed one by one, too. */
  #isTickByTick = false;

  constructor(engine: Engine, of: TradingDay, limits: FoldLimits, end = LAST_MOMENT) {
    this.#engine = engine;
    this.#of = of;
    this.#limits = limits;
    this.#end = end;
  }

  /** The same day up to a moment, to be read at the same time as other parts. */
  upTo(end: number): DayPages {
    const part = new DayPages(this.#engine, this.#of, this.#limits, end);
    part.#isTickByTick = this.#isTickByTick;
    return part;
  }

  get #receivedAfter(): number {
    return this.#limits.receivedAfter ?? FIRST_MOMENT;
  }

  /** The moment of the day's last tick, of either origin. */
  async lastMoment(): Promise<number> {
    const { symbolId, day } = this.#of;
    const row = onlyRow(
      await this.#engine.read`SELECT max(at) AS at FROM tick WHERE symbol_id = ${symbolId} AND day = ${day}`,
    );
    return asNumber(row.at);
  }

  /**
   * The page that begins after a moment. It ends before the moment of its last tick, whose ticks may not all be in it; their
   * prices are summed up with both pages, which changes neither a minimum nor a maximum. A moment that fills a page is read
   * as a whole.
   */
  async next(after: number, ticksMax = TICKS_PER_PAGE): Promise<DayPage> {
    if (this.#isTickByTick) {
      const page = await this.#tickByTick(after);
      if (page) return page;
    }
    const rest = { after, upTo: this.#end };
    const first = await this.#summary(rest, ticksMax);
    if (first.count < ticksMax) return this.#withOthers(first, rest);
    const { lastAt } = first;
    if (lastAt - 1 > after) return this.#withOthers(first, { after, upTo: lastAt - 1 });
    const moment = { after, upTo: lastAt };
    return this.#withOthers(await this.#summary(moment, LAST_MOMENT), moment);
  }

  async #withOthers({ summary, hasOthers }: RangeSummary, range: MomentRange): Promise<DayPage> {
    const areWanted = hasOthers && this.#limits.onOther !== undefined;
    this.#isTickByTick = areWanted && summary === undefined;
    return { upTo: range.upTo, summary, hasOthers, others: areWanted ? await this.#others(range) : [] };
  }

  /** Reads a page with one statement, which pays off where hardly any tick is folded. Undefined if one moment fills the page. */
  async #tickByTick(after: number): Promise<DayPage | undefined> {
    const { symbolId, day } = this.#of;
    const { read, placeholder: p } = this.#engine;
    const rows = await read
      .unsafe(
        `SELECT ${OWN_COLUMNS} FROM ${pageAfter(this.#engine, WITHOUT_MOMENT, 1, RETURNED_PER_PAGE)}
         WHERE at <= ${p(6)} ORDER BY at`,
        [symbolId, day, after, symbolId, day, this.#end],
      )
      .values();
    const ticks = rows.map((row) => this.toTick(row));
    return this.pageOf(ticks, after, ticks.length < RETURNED_PER_PAGE);
  }

  /**
   * The page of these ticks after a moment, of either origin, without those of the last moment: there may be more of them,
   * unless the day ends here. Undefined if one moment fills the page.
   */
  pageOf(ticks: readonly LedgerTick[], after: number, isLast: boolean): DayPage | undefined {
    const upTo = isLast ? this.#end : ticks.at(-1)!.at - 1;
    if (upTo <= after) return undefined;
    const others: LedgerTick[] = [];
    let summary: Summary | undefined;
    for (const tick of ticks) {
      if (tick.at > upTo || !this.#counts(tick)) continue;
      if (this.isFolded(tick)) summary = combine(summary, summaryOf(tick));
      else others.push(tick);
    }
    const hasOthers = others.length > 0;
    this.#isTickByTick = hasOthers && this.#limits.onOther !== undefined && summary === undefined;
    return { upTo, summary, hasOthers, others };
  }

  isFolded(tick: LedgerTick): boolean {
    const { madeBy, receivedBy } = this.#limits;
    return this.#counts(tick) && tick.at <= madeBy && tick.received <= receivedBy;
  }

  /** Whether a tick is of this origin and was not withdrawn. */
  #counts({ sourceId, received }: LedgerTick): boolean {
    const isSimulated = sourceId === SIMULATED_ID;
    return isSimulated === (this.#of.origin === 'simulated') && received > this.#receivedAfter;
  }

  /** Of the first ticks in a range, at most `ticksMax`. The limit counts ticks of the other origin, too. */
  async #summary({ after, upTo }: MomentRange, ticksMax: number): Promise<RangeSummary> {
    const { madeBy, receivedBy } = this.#limits;
    const { symbolId, origin, day } = this.#of;
    const { read, placeholder: p } = this.#engine;
    const [row] = await read
      .unsafe(
        `SELECT count(*), max(at), count(*) FILTER (WHERE counts),
           ${SUMMARY.map((sum) => `${sum} FILTER (WHERE counts AND is_within)`).join(', ')}
         FROM (
           SELECT at, price, revision, ${originFilter(origin)} AND received > ${p(1)} AS counts,
             at <= ${p(2)} AND received <= ${p(3)} AS is_within
           FROM ${pageAfter(this.#engine, 'price, revision, source_id, received', 4, ticksMax)}
           WHERE at <= ${p(9)}) day_page`,
        [this.#receivedAfter, madeBy, receivedBy, symbolId, day, after, symbolId, day, upTo],
      )
      .values();
    const [count, lastAt, counted, folded, ...sums] = row!.map((cell) =>
      cell === null ? Number.NaN : asNumber(cell),
    );
    const [low, high, firstAt, lastFoldedAt, firstRevision] = sums;
    return {
      count: count!,
      lastAt: lastAt!,
      hasOthers: counted! > folded!,
      summary: folded
        ? { low: low!, high: high!, firstAt: firstAt!, lastAt: lastFoldedAt!, firstRevision: firstRevision! }
        : undefined,
    };
  }

  async #others({ after, upTo }: MomentRange): Promise<LedgerTick[]> {
    const { madeBy, receivedBy } = this.#limits;
    return this.#ticks(`received > {3} AND (at > {4} OR received > {5}) ORDER BY at`, [
      ...[after, upTo, this.#receivedAfter],
      ...[madeBy, receivedBy],
    ]);
  }

  /** The ticks of one moment that are folded. */
  at(moment: number): Promise<LedgerTick[]> {
    const range = [moment - 1, moment, this.#receivedAfter, this.#limits.receivedBy];
    return this.#ticks('received > {3} AND received <= {4}', range);
  }

  /**
   * All ticks of some moments, read with one statement. The bounds keep PostgreSQL, as long as it has no statistics, from
   * reading the whole day.
   */
  async atMoments(moments: readonly (number | undefined)[]): Promise<LedgerTick[]> {
    const known = moments.filter((moment) => moment !== undefined);
    if (known.length === 0) return [];
    const { symbolId, origin, day } = this.#of;
    const { placeholder: p, read } = this.#engine;
    const bounds = [Math.min(...known), Math.max(...known)];
    const rows = await read
      .unsafe(
        `SELECT ${OWN_COLUMNS} FROM tick WHERE symbol_id = ${p(1)} AND day = ${p(2)} AND ${originFilter(origin)}
           AND at >= ${p(3)} AND at <= ${p(4)} AND at IN (${moments.map((_, i) => p(i + 5)).join(', ')})`,
        [symbolId, day, ...bounds, ...moments.map((moment) => moment ?? FIRST_MOMENT)],
      )
      .values();
    return rows.map((row) => this.toTick(row));
  }

  /** `{n}` stands for the n-th of `values`, of which the first two bound `at`. */
  async #ticks(rest: string, values: readonly number[]): Promise<LedgerTick[]> {
    const { symbolId, origin, day } = this.#of;
    const condition = `at > {1} AND at <= {2} AND ${rest}`;
    const numbered = condition.replace(/\{(\d)\}/g, (_, n) => this.#engine.placeholder(Number(n) + 2));
    const where = `symbol_id = ${this.#engine.placeholder(1)} AND day = ${this.#engine.placeholder(2)} AND ${originFilter(origin)}`;
    const rows = await this.#engine.read
      .unsafe(`SELECT ${OWN_COLUMNS} FROM tick WHERE ${where} AND ${numbered}`, [symbolId, day, ...values])
      .values();
    return rows.map((row) => this.toTick(row));
  }

  /** Of the cells of `OWN_COLUMNS`. */
  toTick(row: readonly Cell[]): LedgerTick {
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

export function combine(a: Summary | undefined, b: Summary | undefined): Summary | undefined {
  if (!a || !b) return a ?? b;
  return {
    low: Math.min(a.low, b.low),
    high: Math.max(a.high, b.high),
    firstAt: Math.min(a.firstAt, b.firstAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
    firstRevision: Math.min(a.firstRevision, b.firstRevision),
  };
}
