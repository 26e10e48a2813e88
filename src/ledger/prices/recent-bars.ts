import { type Day, LAST_DAY } from '../../market/day.ts';
import type { Engine, RowsInText } from '../engine/engine.ts';
import { Lookup } from '../engine/lookup.ts';
import { asNumber } from '../engine/rows.ts';
import { originFilter, type PriceOrigin } from '../symbols/origin.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import { type BarRevision, REVISION_COLUMNS, toRevisions } from './bars.ts';

/**
 * How many bars are loaded with the latest price. They include the newest settled one and the 30 closes that the market view
 * shows, even if some of the last days were corrected or are not visible yet.
 */
const RECENT_BARS = 40;

/** Which days ever had a bar. */
export interface BarSpan {
  firstDay: Day;
  /** Whether the first day's bar was withdrawn. */
  isFirstWithdrawn: boolean;
  lastDay: Day;
  /** The first of the recent days. */
  recentFrom: Day;
}

/** The recent bars of each symbol, and how far its history goes back. Many symbols can be read at the same time. */
export class RecentBars {
  readonly #spans: Record<PriceOrigin, Lookup>;
  readonly #bars: Lookup;

  constructor(engine: Engine) {
    const symbol = { symbol_id: 'BIGINT' } as const;
    const spanOf = (origin: PriceOrigin) => new Lookup(engine, symbol, (n) => spanStatement(n, origin));
    this.#spans = { real: spanOf('real'), simulated: spanOf('simulated') };
    this.#bars = new Lookup(
      engine,
      { ...symbol, first: 'BIGINT', last: 'BIGINT' },
      (n) => `SELECT ${REVISION_COLUMNS.map((column) => `b.${column}`).join(', ')}, ${n.cell('position')}
        ${n.fromWith('bar b')}
        WHERE b.symbol_id = ${n.cell('symbol_id')} AND b.day >= ${n.cell('first')} AND b.day <= ${n.cell('last')}
        ORDER BY b.symbol_id, b.day, b.revision`,
    );
  }

  /** Undefined if the symbol never had a bar of this origin. */
  async span(symbolId: number, origin: PriceOrigin): Promise<BarSpan | undefined> {
    const [row] = await this.#spans[origin].find(symbolId);
    const [firstDay, lastDay, recentFrom, withdrawn] = row!.map((cell) =>
      cell === null ? undefined : asNumber(cell),
    );
    if (firstDay === undefined || lastDay === undefined) return undefined;
    return { firstDay, isFirstWithdrawn: withdrawn! > 0, lastDay, recentFrom: recentFrom ?? firstDay };
  }

  /** All revisions since a day, by day and then by revision. */
  async since(symbolId: number, origin: PriceOrigin, day: Day): Promise<BarRevision[]> {
    return toRevisions(await this.#bars.find(symbolId, day, LAST_DAY), origin);
  }
}

/** About `RECENT_BARS`: the revisions of one origin are counted, and a day may have several. */
function spanStatement(n: RowsInText, origin: PriceOrigin): string {
  // Without it, a demo would read the whole simulated history of each symbol to find no real price.
  const hasBars = origin === 'real' ? `EXISTS (SELECT 1 FROM source WHERE id <> ${SIMULATED_ID})` : 'true';
  const own = `symbol_id = ${n.cell('symbol_id')} AND ${originFilter(origin)} AND ${hasBars}`;
  const first = `(SELECT day FROM bar WHERE ${own} ORDER BY day ASC LIMIT 1)`;
  return `SELECT ${first},
      (SELECT day FROM bar WHERE ${own} ORDER BY day DESC LIMIT 1),
      (SELECT day FROM bar WHERE ${own} ORDER BY day DESC LIMIT 1 OFFSET ${RECENT_BARS - 1}),
      (SELECT withdrawn FROM bar WHERE ${own} AND day = ${first} ORDER BY revision DESC LIMIT 1),
      ${n.cell('position')}
    ${n.from}`;
}
