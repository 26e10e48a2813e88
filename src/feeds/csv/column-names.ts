/**
 * The names of columns that are recognized, in lower case and without accents: in English, and as European sites write them in
 * files that people download, such as ariva.de, boursorama.com, stooq.pl and the editions of investing.com.
 */

/** In order of preference: in a file with Date and Time, Date has the day. */
export const DATE_NAMES = [
  'date',
  'observation date',
  'trade date',
  'trading date',
  'business date',
  'price date',
  'datum',
  'fecha',
  'day',
  'trading day',
  'datetime',
  'date time',
  'timestamp',
  'time',
  'time period',
  'period',
  'week of',
  'week',
  'month',
  'year',
];

/** Italian, Portuguese and Polish for a date. In English it may be a title, so it counts only beside the name of a price. */
export const DATE_BESIDE_PRICE = 'data';

export const OPEN_NAMES = [
  'open',
  ...['eroffnung', 'eroeffnung', 'eroffnungspreis', 'eroffn', 'erster'], // German
  ...['ouverture', 'ouv'], // French
  'apertura', // Spanish and Italian
  'abertura', // Portuguese
  'otwarcie', // Polish
];

export const HIGH_NAMES = [
  'high',
  ...['hoch', 'tageshoch'],
  ...['plus haut', 'haut'],
  ...['maximo', 'massimo', 'maxima'],
  'hoog', // Dutch, which has `open` from English
  'najwyzszy',
];

export const LOW_NAMES = [
  'low',
  ...['tief', 'tagestief'],
  ...['plus bas', 'bas'],
  ...['minimo', 'minima'],
  'laag',
  'najnizszy',
];

const LOCAL_CLOSE_NAMES = [
  ...['schluss', 'schlusskurs', 'schlusspreis', 'zuletzt'],
  ...['cloture', 'clot', 'dernier'],
  ...['cierre', 'chiusura', 'fechamento', 'ultimo'],
  ...['slot', 'slotkoers', 'laatste'],
  'zamkniecie',
];

export const CLOSE_NAMES = [
  'close',
  'close last',
  'settle',
  'settlement',
  'price',
  'last',
  'last price',
  ...LOCAL_CLOSE_NAMES,
];

/** For the only price. */
export const VALUE_NAMES = [
  'close',
  'price',
  'value',
  'rate',
  'settle',
  'settlement',
  'last',
  'obs value',
  'close last',
  ...LOCAL_CLOSE_NAMES,
];

/** A name as it is compared with these lists. */
export function withoutAccents(name: string): string {
  return name.normalize('NFD').replace(/\p{M}+/gu, '');
}
