import type { Day } from '../../market/day.ts';
import type { Engine } from '../engine/engine.ts';
import { asNumber, onlyRow } from '../engine/rows.ts';
import { ROWS_PER_TRANSACTION } from '../engine/statements.ts';
import { originFilter, type PriceOrigin } from '../symbols/origin.ts';
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
import { type BarSpan, RecentBars } from './recent-bars.ts';
import { standingBar } from './standing.ts';

export class BarStore {
  readonly #engine: Engine;
  readonly recent: RecentBars;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.recent = new RecentBars(engine);
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

  /** The first day that has a bar of this origin. Withdrawn bars do not count. */
  async firstDay(symbolId: number, origin: PriceOrigin, span?: BarSpan): Promise<Day | undefined> {
    const known = span ?? (await this.recent.span(symbolId, origin));
    return known?.isFirstWithdrawn ? this.#firstDayAfter(symbolId, origin, known.firstDay) : known?.firstDay;
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
  async lastDay(symbolId: number, origin: PriceOrigin): Promise<Day | undefined> {
    return (await this.recent.span(symbolId, origin))?.lastDay;
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
