import type { MarketSymbol } from '../../api/answers.ts';
import type { MarketRow } from '../market/rows.ts';
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
  /** Undefined for a formula, whose symbols may have several markets. */
  isOpen: boolean | undefined;
  unit: string;
  quote: string;
  /** Whether the rate is as it was published, neither converted nor computed. */
  isPublished: boolean;
}

/**
 * The newest quote, converted at the exchange rate of the newest bar. Until the bars in another currency are there, and for a
 * formula, it is the newest bar.
 */
export function headlineOf(
  symbol: MarketSymbol,
  row: MarketRow | undefined,
  history: History | undefined,
  unit: Unit,
  currency: string | undefined,
): Headline | undefined {
  const own = history?.series[0];
  const isConverted = currency !== undefined && currency !== symbol.currency.code;
  const [last, before] = [own?.bars.at(-1), own?.bars.at(-2)];
  const isDaily = history?.interval === 'day';
  if (!row) {
    if (!own || !last) return undefined;
    const { source, quote } = own;
    return {
      rate: last.close,
      before: isDaily ? before?.close : undefined,
      at: last.date,
      source,
      stale: false,
      isOpen: undefined,
      unit: own.unit,
      quote,
      isPublished: false,
    };
  }
  const { quote } = row;
  const { at, source, stale } = quote;
  const shared = { at, source, stale, isOpen: quote.open, unit: unit.unit };
  if (!isConverted) {
    const closeBefore = quote.before?.close;
    return {
      ...shared,
      rate: roundConverted(quote.rate, unit.factor),
      before: closeBefore === undefined ? undefined : roundConverted(closeBefore, unit.factor),
      quote: symbol.currency.code,
      isPublished: unit.factor === 1,
    };
  }
  if (!own || own.quote !== currency) return undefined;
  const closes = own.bars.filter(({ date }) => date < quote.date);
  return {
    ...shared,
    rate: roundConverted(quote.rate, own.factor),
    before: isDaily ? closes.at(-1)?.close : undefined,
    source: own.source || source,
    quote: currency,
    isPublished: false,
  };
}
