import type { Prices } from '../../board/views/prices.ts';
import { ConvertedPrices } from '../conversion/converted-prices.ts';
import type { PriceQuery } from '../model/price-query.ts';
import { FormulaPrices } from './formula-prices.ts';

/**
 * The prices that a query is answered from. A named formula has a unit and a currency of its own, so its values are
 * converted; the symbols of an ad hoc formula are converted before it is evaluated.
 *
 *     prices ─► named formulas ─► quote, unit ─► ad hoc formulas
 */
export function pricesOf(prices: Prices, query: PriceQuery, now: number): Prices {
  const { conversion, hasNamedFormulas, hasFormulas } = query;
  const named = hasNamedFormulas ? new FormulaPrices(prices, 'named') : prices;
  const converted = conversion ? new ConvertedPrices(named, conversion, now) : named;
  return hasFormulas ? new FormulaPrices(converted, 'ad hoc') : converted;
}
