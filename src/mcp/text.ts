import type { PriceMetadata } from '../client/answers.ts';
import { printDay, utcDay } from '../market/day.ts';
import { printNumber } from '../market/decimal.ts';
import type { Horizon } from './horizon.ts';

/** Units whose symbol alone can be misread. */
const UNIT_NAMES: Readonly<Record<string, string>> = {
  'T.oz': 'troy ounce',
  MT: 'metric ton',
  ST: 'short ton',
  LT: 'long ton',
  Lb: 'pound',
  Kg: 'kilogram',
  g: 'gram',
  Bbl: 'barrel',
  Gal: 'US gallon',
  Bu: 'bushel',
  MMBtu: 'million British thermal units',
};

/** Currencies that are taken for others: a price of 467 US cents is not 467 dollars. */
const CURRENCY_NAMES: Readonly<Record<string, string>> = {
  USX: 'US cents (USX)',
  GBX: 'British pence (GBX)',
};

/** For example "USD per troy ounce (T.oz)". */
export function measure({ quote: code, unit }: Pick<PriceMetadata, 'quote' | 'unit'>): string {
  const quote = CURRENCY_NAMES[code] ?? code;
  const name = UNIT_NAMES[unit];
  const per = name === undefined ? unit : `${name} (${unit})`;
  if (quote === 'none') return unit === 'none' ? 'a ratio, without currency and unit' : `per ${per}`;
  return unit === 'none' ? quote : `${quote} per ${per}`;
}

/**
 * Where a price is from. A simulated price is marked twice, so that it is never mistaken for a real one: also if a real exchange
 * rate converted it, or a formula has real prices beside it.
 */
export function origin({ source }: PriceMetadata): string {
  const isSimulated = source.split(', ').includes('simulated');
  return `source: ${source}${isSimulated ? '. THIS IS NOT A REAL PRICE' : ''}`;
}

/** A price with what is needed to understand it. */
export function priced(code: string, price: number, metadata: PriceMetadata): string {
  return `${code}: ${printNumber(price)} ${measure(metadata)}`;
}

/** When a latest price was made: at a moment, or on a trading day. */
export async function momentText(at: string, horizon: Horizon): Promise<string> {
  if (at.length === DAY_LENGTH) return closeText(at, await horizon());
  return `at ${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}

/** YYYY-MM-DD. */
const DAY_LENGTH = 10;

/** Whether a day may still be trading at a horizon. No session ends later than its date does in UTC. */
export function mayTrade(day: string, horizon: number): boolean {
  return day >= printDay(utcDay(horizon));
}

/** What the last price of a day is. */
export function closeText(day: string, horizon: number): string {
  return mayTrade(day, horizon)
    ? `PROVISIONAL price of ${day} so far: that day may still be trading`
    : `close of ${day}`;
}

/** A day, with a remark if its price is not a close yet. */
export function dayText(day: string, horizon: number): string {
  return mayTrade(day, horizon) ? `${day} (PROVISIONAL: that day may still be trading)` : day;
}

/** A fraction as a percentage. */
export function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(2)} %`;
}
