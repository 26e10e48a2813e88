import type { MarketSymbol, Quote } from '../../api/answers.ts';
import { hasMarketHours } from '../market/rows.ts';
import { roundConverted, type Unit } from '../units.ts';
import type { History } from './history.ts';

/** The newest price of a symbol in the chosen unit and currency, and what it is. */
export interface Headline {
  rate: number;
  /** The close of the day before. */
  before: number | undefined;
  at: string;
  source: string;
  stale: boolean;
  /** Undefined for a formula, whose symbols may have several markets, and for a monthly average, which has none. */
  isOpen: boolean | undefined;
  unit: string;
  quote: string;
  /** From the symbol's own currency. */
  exchangeRate: number;
  /** Whether the rate is as it was published, neither converted nor computed. */
  isPublished: boolean;
}

/**
 * The newest quote. In another currency it is converted at the exchange rate of the newest bar of `recent`, a history in that
 * currency that includes the day of the quote. A formula in another currency is that bar: each of its symbols may have an
 * exchange rate of its own.
 */
export function headlineOf(
  symbol: MarketSymbol,
  quote: Quote,
  recent: History | undefined,
  unit: Unit,
  currency: string | undefined,
): Headline | undefined {
  const isFormula = symbol.formula !== undefined;
  const { at, source, stale } = quote;
  const isOpen = isFormula || !hasMarketHours(symbol) ? undefined : quote.open;
  if (currency === undefined || currency === symbol.currency.code) {
    return {
      rate: roundConverted(quote.rate, unit.factor),
      before: quote.before ? roundConverted(quote.before.close, unit.factor) : undefined,
      at,
      source,
      stale,
      isOpen,
      unit: unit.unit,
      quote: symbol.currency.code,
      exchangeRate: 1,
      isPublished: unit.factor === 1 && !isFormula,
    };
  }
  const own = recent?.series[0];
  const last = own?.bars.at(-1);
  if (!own || !last) return undefined;
  const date = isFormula ? last.date : quote.date;
  const closeBefore = own.bars.findLast((bar) => bar.date < date)?.close;
  return {
    rate: isFormula ? last.close : roundConverted(quote.rate, own.factor),
    before: recent.interval === 'day' ? closeBefore : undefined,
    at: isFormula ? last.date : at,
    source: own.source || source,
    stale,
    isOpen,
    unit: own.unit,
    quote: own.quote,
    exchangeRate: own.factor / unit.factor,
    isPublished: false,
  };
}
