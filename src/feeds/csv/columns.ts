import { parseNumber } from '../../market/decimal.ts';
import { parsePlainDay } from '../formats/day.ts';
import {
  CLOSE_NAMES,
  DATE_BESIDE_PRICE,
  DATE_NAMES,
  HIGH_NAMES,
  LOW_NAMES,
  OPEN_NAMES,
  VALUE_NAMES,
  withoutAccents,
} from './column-names.ts';
import { looksLikeDate } from './dates.ts';
import { readPrice } from './numbers.ts';

/** Columns, by header name or by number from 1. Omitted ones are found by name. */
export interface CsvColumns {
  date?: string;
  /** One column for open, high, low and close. */
  value?: string;
  ohlc?: readonly [open: string, high: string, low: string, close: string];
  symbol?: string;
}

export interface ColumnIndexes {
  date: number;
  /** One column for all four prices, or four columns. */
  prices: readonly [number] | readonly [open: number, high: number, low: number, close: number];
  symbol: number | undefined;
}

/** Whether a row may be the header: it names a date column and another one that is not itself a date or a number. */
export function isHeader(names: readonly string[], columns: CsvColumns): boolean {
  const filled = names.filter((name) => name !== '');
  if (filled.length < 2 || filled.some((name) => parsePlainDay(name) !== undefined)) return false;
  const date = findDate(names, columns);
  if (date < 0 || looksLikeDate(names[date]!)) return false;
  const isByNumber = columns.date !== undefined && !isName(columns.date);
  const wanted = isByNumber ? [columns.value, columns.symbol, ...(columns.ohlc ?? [])] : [];
  if (wanted.some((name) => name !== undefined && indexOf(names, name) < 0)) return false;
  return names.some((name, index) => index !== date && name !== '' && parseNumber(name) === undefined);
}

/** Throws an error that lists the header if the columns are not clear. */
export function findColumns(header: readonly string[], columns: CsvColumns): ColumnIndexes {
  const symbol = columns.symbol === undefined ? undefined : named(header, columns.symbol);
  const date = findDate(header, columns);
  const prices = findPrices(header, columns, date, symbol);
  requireUnique(header, columns, [date, ...(symbol === undefined ? [] : [symbol]), ...prices]);
  return { date, symbol, prices };
}

/** Refuses columns whose names the header has more than once, unless they are chosen by number: these may be of two symbols. */
function requireUnique(header: readonly string[], columns: CsvColumns, found: readonly number[]): void {
  const given = [columns.date, columns.value, columns.symbol, ...(columns.ohlc ?? [])];
  const byNumber = new Set(
    given.filter((one) => one !== undefined && !isName(one)).map((one) => Number(one) - 1),
  );
  const names = header.map(normal);
  const repeated = found.filter((index) => {
    const isRepeated = names.indexOf(names[index]!) !== names.lastIndexOf(names[index]!);
    return isRepeated && !byNumber.has(index);
  });
  if (repeated.length === 0) return;
  throw new Error(
    `the header has more than one column ${list(repeated.map((index) => header[index]!))}; choose columns by number, such as --ohlc-columns 2,3,4,5`,
  );
}

/**
 * The columns of a data row, for a file without a header. Undefined if the row is not data, or its columns are
 * ambiguous.
 */
export function columnsOfData(cells: readonly string[], columns: CsvColumns): ColumnIndexes | undefined {
  const all = [columns.date, columns.value, columns.symbol, ...(columns.ohlc ?? [])];
  if (all.some((name) => name !== undefined && (isName(name) || Number(name) > cells.length)))
    return undefined;
  const at = (name: string | undefined) => (name === undefined ? undefined : Number(name) - 1);
  const [symbol, value] = [at(columns.symbol), at(columns.value)];
  const ohlc = columns.ohlc?.map((name) => Number(name) - 1) as [number, number, number, number] | undefined;
  const taken = [symbol, value, ...(ohlc ?? [])];
  const date = at(columns.date) ?? dateIn(cells, taken);
  if (date === undefined || !looksLikeDate(cells[date] ?? '')) return undefined;
  const prices = ohlc ?? [value ?? onlyNumber(cells, [date, symbol])];
  const [first] = prices;
  if (first === undefined || prices.some((index) => !isPrice(cells[index!] ?? ''))) return undefined;
  return { date, symbol, prices: prices as ColumnIndexes['prices'] };
}

/** The only column with a date. A bare year counts only in the first column: `1960` may be a price. */
function dateIn(cells: readonly string[], taken: readonly (number | undefined)[]): number | undefined {
  const free = cells.map((_, index) => index).filter((index) => !taken.includes(index));
  const dates = free.filter((index) => looksLikeDate(cells[index]!) && !/^\d{4}$/.test(cells[index]!));
  if (dates.length > 0) return dates.length === 1 ? dates[0] : undefined;
  return looksLikeDate(cells[0] ?? '') && !taken.includes(0) ? 0 : undefined;
}

function onlyNumber(cells: readonly string[], taken: readonly (number | undefined)[]): number | undefined {
  const filled = cells.map((_, index) => index).filter((i) => !taken.includes(i) && cells[i] !== '');
  const numbers = filled.filter((index) => isPrice(cells[index]!));
  return numbers.length === 1 ? numbers[0] : undefined;
}

function isPrice(text: string): boolean {
  return (
    readPrice(text, text.includes(',') ? 'comma' : 'point') !== undefined ||
    readPrice(text, 'point') !== undefined
  );
}

/** Whether a column is given by name rather than by number. */
function isName(column: string): boolean {
  return !/^[1-9]\d{0,3}$/.test(column.trim());
}

function findDate(header: readonly string[], { date }: CsvColumns): number {
  if (date !== undefined) return indexOf(header, date);
  const names = knownForm(header);
  const found = firstOf(DATE_NAMES, names);
  return found < 0 && firstOf(CLOSE_NAMES, names) >= 0 ? names.indexOf(DATE_BESIDE_PRICE) : found;
}

function findPrices(
  header: readonly string[],
  { value, ohlc }: CsvColumns,
  date: number,
  symbol: number | undefined,
): ColumnIndexes['prices'] {
  if (value !== undefined) return [named(header, value)];
  if (ohlc) {
    const [open, high, low, close] = ohlc;
    return [named(header, open), named(header, high), named(header, low), named(header, close)];
  }
  const names = knownForm(header);
  const open = firstOf(OPEN_NAMES, names);
  const high = firstOf(HIGH_NAMES, names);
  const low = firstOf(LOW_NAMES, names);
  const close = firstOf(CLOSE_NAMES, names);
  if (open >= 0 && high >= 0 && low >= 0 && close >= 0) return [open, high, low, close];
  const others = names.map((_, index) => index).filter((i) => i !== date && i !== symbol && names[i] !== '');
  const known = others.filter((index) => VALUE_NAMES.includes(names[index]!));
  const only = others.length === 1 ? others[0] : known.length === 1 ? known[0] : undefined;
  if (only !== undefined) return [only];
  throw new Error(
    `the header must name open, high, low and close, or one value column; choose with --ohlc-columns or --value-column (it has ${list(header)})`,
  );
}

function named(header: readonly string[], name: string): number {
  const index = indexOf(header, name);
  if (index < 0) throw new Error(`the header has no column "${name}" (it has ${list(header)})`);
  return index;
}

function indexOf(header: readonly string[], name: string): number {
  const wanted = normal(name);
  const exact = header.findIndex((one) => normal(one) === wanted);
  if (exact >= 0) return exact;
  const number = /^\d{1,4}$/.test(name.trim()) ? Number(name) : 0;
  return number >= 1 && number <= header.length ? number - 1 : -1;
}

/** The index of the name that comes first among those that are recognized, or -1. */
function firstOf(recognized: readonly string[], names: readonly string[]): number {
  return recognized.map((name) => names.indexOf(name)).find((index) => index >= 0) ?? -1;
}

function knownForm(header: readonly string[]): string[] {
  return header.map((name) => withoutAccents(normal(name)));
}

function normal(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}%]+/gu, ' ')
    .trim();
}

function list(header: readonly string[]): string {
  return header.join(', ').slice(0, 300);
}
