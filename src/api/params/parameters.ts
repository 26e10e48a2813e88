import type { Board } from '../../board/board.ts';
import type { Catalog } from '../../board/catalog.ts';
import { redactKeys } from '../../gate/key.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import { type Day, parseDay, printDay, utcDay } from '../../market/day.ts';
import { isFormula } from '../../market/formula/parse.ts';
import { marketOf, runningTradeDate, tradeDate } from '../../market/session.ts';
import type { UnknownCode } from '../errors/error-details.ts';
import { type Refusal, refuse } from '../errors/errors.ts';
import { findFormula, findNamed } from '../formulas/find-formula.ts';
import { symbolSeriesOf } from '../formulas/formula-parts.ts';
import type { Finality } from '../model/answer.ts';
import type { EndpointContext } from '../model/endpoint.ts';
import type { RequestedSymbol, UnresolvedSymbols } from '../model/price-query.ts';
import type { QueryParams } from '../model/query.ts';
import type { Dialect } from '../versions/dialects.ts';
import { parseSymbols, type SymbolSet } from './symbol-set.ts';
import { nameSentInstead } from './synonyms.ts';

/** Symbols and days of a request, read and checked together: "today" depends on the symbols' markets. */
export interface RequestedSymbols {
  symbols: readonly RequestedSymbol[];
  /** The later of the UTC date and the trade dates of the requested symbols whose session has opened. */
  today: Day;
  /** The unknown ones, if an answer without them is acceptable. */
  unresolved?: UnresolvedSymbols | undefined;
}

/**
 * An answer up to `last` is open if it contains a day that has not ended for one of the symbols. Steel may trade for tomorrow
 * in Shanghai while gold trades for today in New York, and a delayed view is behind both.
 */
export function finalityOf(last: Day, symbols: readonly RequestedSymbol[], horizon: number): Finality {
  const today = utcDay(horizon);
  if (last >= today) return 'open';
  if (last < today - 1) return 'closed'; // nowhere is it the day before yesterday
  const open = symbolSeriesOf(symbols).some(
    ({ symbol }) => last >= tradeDate(marketOf(symbol.market), horizon),
  );
  return open ? 'open' : 'closed';
}

/** How many characters of an invalid value an error message repeats. */
const ECHO_MAX = 64;

/** The value of a parameter that may occur only once, trimmed. */
export function single(query: QueryParams, name: string): string | undefined {
  const values = query.get(name);
  if (!values) return undefined;
  if (values.length > 1) throw refuse('repeated_parameter', { name });
  return values[0]!.trim();
}

/** The same for a parameter of which an empty value counts as missing: `quote=` is what forms and templates send. */
export function singleUnlessEmpty(query: QueryParams, name: string): string | undefined {
  return single(query, name) || undefined;
}

function required(query: QueryParams, name: string, example: string): string {
  const value = singleUnlessEmpty(query, name);
  if (value === undefined) throw missing(query, name, example);
  return value;
}

function missing(query: QueryParams, name: string, example: string): Refusal {
  return refuse('missing_parameter', { name, example, sentInstead: nameSentInstead(query, name) });
}

/** Whether a parameter that includes something is `false`, in any case: Python writes `False`. */
export function isOff(query: QueryParams, name: 'metadata' | 'closes'): boolean {
  return single(query, name)?.toLowerCase() === 'false';
}

/** Reads `symbols`. */
export function readSymbolSet(query: QueryParams, { maxSymbols }: Pick<Plan, 'maxSymbols'>): SymbolSet {
  const values = query.get('symbols');
  if (!values) throw missing(query, 'symbols', 'XAU,WTIOIL-FUT');
  const received = values.length === 1 ? values[0]! : values.join(',');
  const symbolSet = parseSymbols(received);
  const { length } = symbolSet.codes;
  if (length === 0) throw refuse('invalid_symbols', { received: echo(received) });
  if (length > maxSymbols) throw refuse('too_many_symbols', { received: length, max: maxSymbols });
  return symbolSet;
}

/** The text of a required date. */
export function requiredDate(query: QueryParams, name: string): string {
  return required(query, name, '2024-01-31');
}

/** Reads a required day. */
export function readDay(query: QueryParams, name: string): Day {
  const text = requiredDate(query, name);
  const day = parseDay(text);
  if (day === undefined) throw refuse('invalid_date', { name, received: echo(text) });
  return day;
}

/** The maximum number of days between the first and the last day of a time series. */
export function spanDaysMax({ maxSpanDays }: Plan, dialect: Dialect): number {
  return maxSpanDays ?? dialect.spanDaysMax;
}

/** Reads startDate and endDate, in order, at most `maxDays` apart. Only a plan with long history can be referred to it. */
export function readRange(
  query: QueryParams,
  maxDays: number,
  hasHistory = false,
): { first: Day; last: Day } {
  const first = readDay(query, 'startDate');
  const last = readDay(query, 'endDate');
  if (first > last) throw refuse('invalid_range', { startDate: printDay(first), endDate: printDay(last) });
  if (last - first > maxDays) throw refuse('range_too_long', { days: last - first, maxDays, hasHistory });
  return { first, last };
}

/**
 * Finds the symbols and checks that `day` is not in the future. The day is checked first: parameters come before
 * symbols. Refuses unknown symbols, unless some are known and the answer can be partial.
 */
export function findSymbols(
  symbolSet: SymbolSet,
  board: Board,
  now: number,
  { day, canBePartial = false, symbolsMax, onlyNamed = false }: FindOptions = {},
): RequestedSymbols {
  const { catalog } = board;
  const { symbols, unknownCodes } = resolve(symbolSet, catalog, symbolsMax, onlyNamed);
  let today = utcDay(now);
  for (const { symbol } of symbolSeriesOf(symbols)) {
    today = Math.max(today, runningTradeDate(marketOf(symbol.market), now) ?? today);
  }
  if (day && day.day > today) {
    throw refuse('date_in_future', { name: day.name, received: printDay(day.day), today: printDay(today) });
  }
  if (unknownCodes.size === 0) return { symbols, today };
  const described = new Map<string, UnknownCode>();
  const takesFormulas = symbolsMax !== undefined && !onlyNamed;
  for (const code of [...unknownCodes.values()].flat()) {
    if (!described.has(code)) {
      const about = describeUnknown(code, catalog, described.size < SUGGESTIONS_MAX);
      described.set(code, { ...about, mayBeFormula: takesFormulas && isFormulaWithoutBraces(code, about) });
    }
  }
  const refusal = refuse('unknown_symbol', { unknown: [...described.values()] });
  if (!canBePartial || symbols.length === 0) throw refusal;
  const messages = [...unknownCodes].map(([requested, codes]) => {
    const { message } = refuse('unknown_symbol', { unknown: codes.map((code) => described.get(code)!) });
    return [redactKeys(requested), { message: redactKeys(message) }] as const;
  });
  return { symbols, today, unresolved: Object.fromEntries(messages) };
}

export interface FindOptions {
  day?: FirstDay | undefined;
  canBePartial?: boolean;
  /** Set if formulas are accepted: how many symbols a request may name, those in formulas included. */
  symbolsMax?: number;
  /** Whether of the formulas only named ones are accepted. */
  onlyNamed?: boolean;
}

/** The first requested day, which must not be in the future, and the parameter that names it. */
export interface FirstDay {
  name: string;
  day: Day;
}

/** Whether unknown symbols may be left out: only JSON can say which. */
export function canBePartial({ dialect, format }: EndpointContext): boolean {
  return dialect.answersPartially && format === 'json';
}

/** An unknown code, with suggestions. */
function describeUnknown(code: string, catalog: Catalog, suggests: boolean): UnknownCode {
  const parts = code.split(SEPARATOR).filter((part) => part !== '');
  const isList = parts.length > 1 && parts.every((part) => catalog.find(part));
  if (isList) return { code: echo(code), nearest: [], list: echo(parts.join(',')) };
  return { code: echo(code), nearest: suggests ? catalog.nearest(code) : [] };
}

/** No code contains these operators. A slash may also be that of a pair of currencies, unless it separates symbols. */
function isFormulaWithoutBraces(code: string, { list }: UnknownCode): boolean {
  return /[*()]/.test(code) || (list !== undefined && code.includes('/'));
}

/** What people put between codes instead of a comma; `%2C` is a comma that was escaped twice. */
const SEPARATOR = /[;|/+&\s]|%2C/;

/** Finds symbols and formulas, and the unknown codes by what they were requested in: the code itself, or a formula. */
function resolve({ codes }: SymbolSet, catalog: Catalog, symbolsMax: number | undefined, onlyNamed: boolean) {
  const symbols: RequestedSymbol[] = [];
  const unknownCodes = new Map<string, string[]>();
  let hasFormulas = false;
  for (const code of codes) {
    const series = catalog.find(code);
    const named = series ? undefined : findNamed(code, catalog, symbolsMax !== undefined);
    if (series) symbols.push({ code, series });
    else if (named) {
      hasFormulas = true;
      symbols.push(named);
    } else if (!isFormula(code)) unknownCodes.set(code, [code]);
    else {
      hasFormulas = true;
      const formula = findFormula(code, catalog, symbolsMax !== undefined && !onlyNamed);
      if ('unknown' in formula) unknownCodes.set(formula.code, formula.unknown);
      else if (!symbols.some((one) => one.code === formula.code)) symbols.push(formula);
    }
  }
  const count = hasFormulas ? symbolSeriesOf(symbols).length : 0;
  if (count > (symbolsMax ?? count)) throw refuse('too_many_symbols', { received: count, max: symbolsMax! });
  return { symbols, unknownCodes };
}

/** Finding similar codes takes time, so only the first unknown codes get suggestions. */
const SUGGESTIONS_MAX = 3;

export function echo(text: string): string {
  return text.length > ECHO_MAX ? `${text.slice(0, ECHO_MAX)}…` : text;
}

/**
 * Reads a parameter that is `true` or `false`, in any case; false if it is absent or empty. Any other value is refused:
 * `dryRun=1` would otherwise do, and charge for, what the client meant to try.
 */
export function readFlag(query: QueryParams, name: string): boolean {
  return toFlag(name, singleUnlessEmpty(query, name));
}

/** The same for a change, which refuses an empty one, too: `dryRun` alone would do what the operator meant to try. */
export function readChangeFlag(query: QueryParams, name: string): boolean {
  return toFlag(name, single(query, name));
}

function toFlag(name: string, received: string | undefined): boolean {
  if (received === undefined || received.toLowerCase() === 'false') return false;
  if (received.toLowerCase() === 'true') return true;
  throw refuse('invalid_parameter', { name, received: echo(received), expected: 'true or false' });
}
