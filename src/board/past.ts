import type { Strand } from '../ledger/bars.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerSymbol } from '../ledger/symbols.ts';
import { type Day, EARLIEST_DAY, LAST_DAY } from '../market/day.ts';
import { hasEnded, marketOf } from '../market/session.ts';
import type { SourcedBar } from './columns.ts';
import type { Measure, Prices } from './prices.ts';
import { type Shown, strandByReference } from './reference.ts';
import type { Series } from './series.ts';
import type { LatestPrice } from './strand-view.ts';

/** What was known of some days of the market at some moment, seen with a plan's delay. */
export interface Past {
  delayMs: number;
  /** The moment that is looked from, in ms. */
  at: number;
  /** What was recorded after it is not seen, in ms. */
  recordedBy: number;
  first: Day;
  last: Day;
  /** Whether symbols without real prices show their simulated ones. */
  simulated: boolean;
}

/** What was shown of a series, and the first day that it had at all. */
interface Remembered extends Shown {
  firstDay: Day | undefined;
}

/**
 * The market as a plan saw it at some moment, read from the ledger: the slow way, for questions about the past. It knows
 * the days that were read and no others.
 */
export class PastPrices implements Prices {
  readonly delayMs: number;
  readonly #shown: ReadonlyMap<Series, Remembered>;

  private constructor(delayMs: number, shown: ReadonlyMap<Series, Remembered>) {
    this.delayMs = delayMs;
    this.#shown = shown;
  }

  static async read(ledger: Ledger, series: readonly Series[], past: Past): Promise<PastPrices> {
    const shown = new Map<Series, Remembered>();
    for (const one of new Set(series)) shown.set(one, await remember(ledger, one.symbol, past));
    return new PastPrices(past.delayMs, shown);
  }

  measure({ symbol }: Series): Measure {
    return { unit: symbol.unit.symbol, quote: symbol.currency.code };
  }

  latest(series: Series): LatestPrice | undefined {
    return this.#shown.get(series)!.latest;
  }

  firstDay(series: Series): Day | undefined {
    return this.#shown.get(series)!.firstDay;
  }

  lastDay(series: Series): Day | undefined {
    return this.#shown.get(series)!.bars.at(-1)?.day;
  }

  barOnOrBefore(series: Series, day: Day, earliest: Day): SourcedBar | undefined {
    const { bars } = this.#shown.get(series)!;
    const found = bars[firstFrom(bars, day + 1) - 1];
    return found && found.day >= earliest ? found : undefined;
  }

  bars(series: Series, first: Day, last: Day): SourcedBar[] {
    const { bars } = this.#shown.get(series)!;
    return bars.slice(firstFrom(bars, first), firstFrom(bars, last + 1));
  }
}

/** Real prices if any were seen, else simulated ones. */
async function remember(ledger: Ledger, symbol: LedgerSymbol, past: Past): Promise<Remembered> {
  const real = await rememberStrand(ledger, symbol, 'real', past);
  if (real) return real;
  const simulated = past.simulated && (await rememberStrand(ledger, symbol, 'simulated', past));
  return simulated || { bars: [], latest: undefined, firstDay: undefined };
}

/** Undefined when nothing of the strand was seen. */
async function rememberStrand(
  ledger: Ledger,
  symbol: LedgerSymbol,
  strand: Strand,
  { at, delayMs, recordedBy, first, last }: Past,
): Promise<Remembered | undefined> {
  const horizon = at - delayMs;
  const firstDay = await ledger.bars.firstDayBy(symbol.id, strand, recordedBy);
  if (firstDay !== undefined && hasEnded(marketOf(symbol.market), firstDay, horizon)) {
    return {
      ...(await strandByReference(ledger, symbol, strand, { horizon, recordedBy, first, last })),
      firstDay,
    };
  }
  // All that it has is of sessions that were not over: little enough to look at everything.
  const scope = { horizon, recordedBy, first: EARLIEST_DAY, last: LAST_DAY };
  const all = await strandByReference(ledger, symbol, strand, scope);
  return all.latest && { ...all, firstDay: all.bars[0]?.day };
}

/** The index of the first bar that is not before `day`. */
function firstFrom(bars: readonly SourcedBar[], day: Day): number {
  let [low, high] = [0, bars.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bars[middle]!.day < day) low = middle + 1;
    else high = middle;
  }
  return low;
}
