/** An unknown code, with suggestions. */
export interface UnknownCode {
  code: string;
  /** Known codes, the likeliest first. */
  nearest: readonly string[];
  /** The same codes separated by commas, if it is a list with another separator. */
  list?: string;
  /** Whether it looks like a formula without its braces, on an endpoint that takes formulas. */
  mayBeFormula?: boolean;
}

export interface NoData {
  code: string;
  /** The first day with data. */
  firstDate: string | undefined;
  /** The last day with data, if it is before the requested days. */
  lastDate?: string | undefined;
  /** Whether it has only simulated prices, which the service does not show. */
  isHidden?: boolean;
}

export interface UnknownCurrency {
  received: string;
  code: string;
  /** The currency of the symbol; `none` for a ratio. */
  own: string;
  known: readonly string[];
  hasRates: boolean;
}

export interface MissingRate {
  date: string;
  /** Such as EUR/USD. */
  rate: string;
  /** The look-back limit. */
  days: number;
  /** The symbols of the request that need it. */
  symbols: readonly string[];
  /** The first day with a rate, if it is after the date. */
  firstDate?: string;
  /** The last day with a rate, if it is before the date. */
  lastDate?: string;
}

/** Symbols that a message names. */
const NAMED_MAX = 5;

export function missingRate({ date, rate, days, symbols, firstDate, lastDate }: MissingRate): string {
  const known = firstDate
    ? ` (the first is from ${firstDate})`
    : lastDate
      ? ` (the last is from ${lastDate})`
      : '';
  const more = symbols.length > NAMED_MAX ? ` and ${symbols.length - NAMED_MAX} more` : '';
  const needed = `${symbols.slice(0, NAMED_MAX).join(', ')}${more}`;
  return (
    `No exchange rate ${rate} is known on ${date} or in the ${days} days before it${known}, so prices of ${needed} on that day cannot be converted. ` +
    'Ask for another day, or for them without quote. The operator can load current rates with "openpit feed run ecb".'
  );
}

/** Why a key may not be used. */
export const NOT_ALLOWED = {
  url: 'This API key may not be sent in the URL. Send it in the header "x-api-key".',
  address: 'This API key may not be used from your address. Ask the owner of the account to allow it.',
  management: 'Keys are managed with a key in the header "x-api-key", not in the URL.',
  rules: 'This API key is restricted, so it may rotate only itself. Use an unrestricted key.',
  stream: 'The public key of the page cannot open streams. Use a key of your own account.',
  closed:
    'This API key was for visitors to the page, which no longer gives it out. Use a key of your own account, or ask the operator of this service.',
  shared: 'This API key is shared by all visitors to the page. Use a key of your own account.',
} as const;

export function suggest({ code, nearest, list }: UnknownCode): string {
  if (list !== undefined) return `${code} (separate codes with commas: symbols=${list})`;
  return nearest.length > 0 ? `${code} (did you mean ${nearest.join(', ')}?)` : code;
}

/** Codes without braces are what the server gets from a curl that was called without -g. */
export function formulaHint(unknown: readonly UnknownCode[]): string {
  if (!unknown.some(({ mayBeFormula }) => mayBeFormula)) return '';
  return ' A formula has each code in braces, for example {XAU}/{XAG}; curl sends them only with -g.';
}

export function fitting({ code, units }: { code: string; units: readonly string[] }): string {
  if (units.length === 0) return `${code} (a formula takes no unit)`;
  return units[0] === 'none' ? `${code} (which has no unit)` : `${code} (which has ${units.join(', ')})`;
}

/** A parameter that an operation does not have, the ones it has, and the one that is meant. */
export interface UnknownParameter {
  unknown: string;
  known: readonly string[];
  meant: string | undefined;
}

export function unknownParameter({ unknown, known, meant }: UnknownParameter): string {
  const all = known.length > 0 ? `The parameters are ${known.join(', ')}.` : 'There are none.';
  return `There is no parameter "${unknown}" here. ${meant ? `Did you mean ${meant}?` : all}`;
}

/** Why a symbol that has only simulated prices shows none. */
export const NO_DATA_SHOWN = 'has no data yet: its simulated prices are hidden by OPENPIT_DEMO=false';

export function extentOf({ code, firstDate, lastDate, isHidden }: NoData): string {
  if (isHidden) return `${code} (it ${NO_DATA_SHOWN})`;
  if (!firstDate) return `${code} (it has no data yet)`;
  return `${code} (its data starts on ${firstDate}${lastDate ? ` and ends on ${lastDate}` : ''})`;
}
