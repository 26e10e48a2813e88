import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, onlyRow } from '../engine/rows.ts';
import { ROWS_PER_TRANSACTION } from '../engine/statements.ts';
import { originFilter, type PriceOrigin } from '../symbols/origin.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import {
  BAR_CHANGE,
  type BarChange,
  type BarRevision,
  type NewBar,
  readHistory,
  readRevisions,
  type SettledBarRow,
} from './bars.ts';
import { compareBars, NO_SOURCE, type Publication, type PublishResult, publishBars } from './publish-bars.ts';
import { standingBar } from './standing.ts';

/** Which days ever had a bar. */
export interface BarSpan {
  firstDay: Day;
  lastDay: Day;
  /** The first of the recent days. */
  recentFrom: Day;
}

export class BarStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Publishes bars, at most one for each symbol and day, in transactions of 2,000. `progress` is called with the number done. */
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

  /** The revisions of days whose sessions are over, by day and then by revision. */
  async history(
    symbolId: number,
    origin: PriceOrigin,
    firstDay: Day,
    lastDay: Day,
  ): Promise<SettledBarRow[]> {
    return readHistory(this.#engine.read, symbolId, origin, firstDay, lastDay);
  }

  /** The days that ever had a bar of this origin. Its recent days have about `recentBars` revisions. */
  async span(symbolId: number, origin: PriceOrigin, recentBars = 1): Promise<BarSpan | undefined> {
    const { read, placeholder } = this.#engine;
    const edge = (order: string, n: number) =>
      `(SELECT day FROM bar WHERE symbol_id = ${placeholder(n)} AND ${originFilter(origin)} AND ${hasBars(origin)}
         ORDER BY day ${order} LIMIT 1`;
    const [row] = await read
      .unsafe(
        `SELECT ${edge('ASC', 1)}), ${edge('DESC', 2)}), ${edge('DESC', 3)} OFFSET ${recentBars - 1})`,
        [symbolId, symbolId, symbolId],
      )
      .values();
    const [firstDay, lastDay, recentFrom] = row!.map((cell) => (cell === null ? undefined : asNumber(cell)));
    if (firstDay === undefined || lastDay === undefined) return undefined;
    return { firstDay, lastDay, recentFrom: recentFrom ?? firstDay };
  }

  /** The first day that has a bar of this origin. Withdrawn bars do not count. `ever` is the first day that ever had one. */
  async firstDay(symbolId: number, origin: PriceOrigin, ever?: Day): Promise<Day | undefined> {
    const first = ever ?? (await this.#edge(symbolId, origin, 'ASC'));
    if (first === undefined) return undefined;
    const revisions = await this.revisions(symbolId, origin, first, first);
    return revisions.at(-1)!.withdrawn ? this.#firstDayAfter(symbolId, origin, first) : first;
  }

  async #firstDayAfter(symbolId: number, origin: PriceOrigin, day: Day): Promise<Day | undefined> {
    const { read, placeholder: p } = this.#engine;
    const [row] = await read.unsafe(
      `SELECT b.day FROM bar b WHERE b.symbol_id = ${p(1)} AND b.day > ${p(2)} AND b.${originFilter(origin)}
         AND ${standingBar('b', (w) => `${w}.${originFilter(origin)}`)}
       ORDER BY b.day LIMIT 1`,
      [symbolId, day],
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
      `SELECT day FROM bar WHERE symbol_id = ${placeholder(1)} AND ${originFilter(origin)}
         AND ${hasBars(origin)}
       ORDER BY day ${order} LIMIT 1`,
      [symbolId],
    );
    return row === undefined ? undefined : asNumber(row.day);
  }

  /** Which days of which symbols the revisions in (after, upTo] touched. */
  async changes(after: number, upTo: number): Promise<BarChange[]> {
    const rows = await this.#engine.read`
      SELECT symbol_id, min(first_day) AS first_day, max(last_day) AS last_day FROM bar_change
      WHERE revision > ${after} AND revision <= ${upTo} GROUP BY symbol_id`;
    return rows.map(BAR_CHANGE.read);
  }

  async count(): Promise<number> {
    const row = onlyRow(await this.#engine.read`SELECT count(*) AS n FROM bar`);
    return asNumber(row.n);
  }
}

/** Without it, a demo would read the whole simulated history of each symbol to find no real price. */
function hasBars(origin: PriceOrigin): string {
  return origin === 'real' ? `EXISTS (SELECT 1 FROM source WHERE id <> ${SIMULATED_ID})` : 'true';
}
