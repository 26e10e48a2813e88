import type { Ohlc } from './bar.ts';

/** How often a symbol's price is published. */
export type UpdateInterval = 'minute' | 'day' | 'week' | 'month';

export interface SymbolRecord {
  code: string;
  name: string;
  category: string;
  currency: { code: string; name: string; symbol: string };
  unit: { symbol: string; name: string };
  /** A key of MARKETS: it gives the session and the time zone. */
  market: string;
  /** How many decimals its prices usually have. */
  decimals: number;
  /** `currency`: the exchange rate of a currency, which is never listed. */
  status: 'active' | 'deprecated' | 'currency';
  updateInterval: UpdateInterval;
}

/**
 * How far back a closed day looks for the last bar, in days. 14: the longest exchange closure plus margin.
 * A weekly value is valid for a week and a monthly one for a month, and both are published late.
 */
export const LOOK_BACK_DAYS: Readonly<Record<UpdateInterval, number>> = {
  minute: 14,
  day: 14,
  week: 21,
  month: 100,
};

/** Units of energy that is delivered continuously. What cannot be stored may have a negative price. */
const FLOWING_UNITS: ReadonlySet<string> = new Set(['Bbl', 'Gal', 'MMBtu', 'MWh', 'kWh', 'Thm', 'GJ', 'm3']);
const ENERGY: ReadonlySet<string> = new Set(['energy', 'electricity', 'power']);

/**
 * Whether a price can be zero or below. Oil, gas and power can: WTI settled at −37.63 on 2020-04-20. Nothing else can,
 * coal and uranium included, which are sold by weight: there, 0 means a missing value.
 */
export function canBeZero({ category, unit }: Pick<SymbolRecord, 'category' | 'unit'>): boolean {
  return ENERGY.has(category.toLowerCase()) && FLOWING_UNITS.has(unit.symbol);
}

/** Why these are not prices: one of them is 0, and the symbol's price cannot be. Undefined when they can be prices. */
export function missingPrice(prices: Ohlc | { price: number }, canBe: boolean): string | undefined {
  const isZero = 'price' in prices ? prices.price === 0 : PRICES.some((name) => prices[name] === 0);
  return isZero && !canBe ? '0 is not a price: it stands for a missing value' : undefined;
}
const PRICES = ['open', 'high', 'low', 'close'] as const;

/** What a code may look like, once upper-cased. */
export const CODE_PATTERN = /^[A-Z0-9][A-Z0-9._-]{0,31}$/;
