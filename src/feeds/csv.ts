import type { Bar } from '../market/bar.ts';
import { type Day, printDay } from '../market/day.ts';
import { type ColumnIndexes, type CsvColumns, findColumns, isHeader } from './csv-columns.ts';
import { type DateOrder, findDateOrder, readDay } from './csv-dates.ts';
import { type DecimalMark, findDecimalMark, readNumber } from './csv-numbers.ts';
import { quote } from './formats/cell.ts';
import { firstLine, isFootnote, readTable, type Table } from './formats/table.ts';
import { Gathering, oddOnes } from './gathering.ts';

/** How to read a file, where the file itself does not tell. */
export interface CsvMapping {
  columns?: CsvColumns;
  dateOrder?: DateOrder;
  decimal?: DecimalMark;
  /** Timestamps with an offset belong to the day that they are on in this IANA zone. */
  zone?: string;
}

export interface CsvBar extends Bar {
  /** What the symbol column says; empty where the file is of one symbol. */
  symbol: string;
}

/** What a file says: its bars by symbol and day, and what could not be taken, by line. */
export interface ParsedCsv {
  bars: CsvBar[];
  /** Rows with a day and no value. Missing is never zero. */
  missing: number;
  /** Rows that cannot be used. */
  refused: { line: number; reason: string }[];
  /** Bars whose low or high does not hold its open and close. They are kept: a source's word is not repaired. */
  odd: { line: number; reason: string }[];
}

/**
 * Reads any CSV of daily prices: a date and either one value or open, high, low and close, in any order of columns and
 * rows, with lines before the header, and with the separators of any country where they are clear. Throws when the
 * file as a whole does not tell what it means. `latestDay` is the last day that a row may have.
 */
export function parseCsv(text: string, latestDay: Day, mapping: CsvMapping = {}): ParsedCsv {
  const table = findTable(text, mapping.columns ?? {});
  const columns = findColumns(table.header, mapping.columns ?? {});
  const read: Reading = {
    columns,
    latestDay,
    order:
      mapping.dateOrder ??
      (TWO_NUMBERS.test(text) ? findDateOrder(cellsOf(table, [columns.date])) : undefined),
    mark:
      mapping.decimal ??
      (cellsHaveCommas(text, table)
        ? findDecimalMark(cellsOf(table, columns.prices), table.delimiter)
        : 'point'),
    zone: mapping.zone,
    days: new Map(),
    gathering: new Gathering<number>((line) => `line ${line}`),
  };
  for (const { line, cells } of table.rows) {
    if (!isFootnote(cells)) readRow(line, cells, read);
  }
  const { gathering } = read;
  const taken = gathering.taken();
  return {
    bars: taken.map(({ series: symbol, day, open, high, low, close }) => ({
      symbol,
      day,
      open,
      high,
      low,
      close,
    })),
    missing: gathering.missing,
    refused: byLine(gathering.refused),
    odd: byLine(oddOnes(taken)),
  };
}

function byLine(remarks: readonly { where: number; reason: string }[]): { line: number; reason: string }[] {
  return remarks.map(({ where: line, reason }) => ({ line, reason }));
}

// Most files leave nothing open. One look at the whole text spares them a second and a third pass over their rows.
const TWO_NUMBERS = /\b\d{1,2}([-/. ])\d{1,2}\1\d{4}\b/;

function cellsHaveCommas(text: string, { delimiter }: Table): boolean {
  return text.includes(',') && (delimiter !== ',' || text.includes('"'));
}

interface Reading {
  columns: ColumnIndexes;
  latestDay: Day;
  order: DateOrder | undefined;
  mark: DecimalMark | undefined;
  zone: string | undefined;
  /** Days that were read before: a file of many symbols has each of them many times. */
  days: Map<string, Day | undefined>;
  gathering: Gathering<number>;
}

function findTable(text: string, columns: CsvColumns): Table {
  if (text.trim() === '') throw new Error('the file is empty');
  if (/^\s*<(!doctype|html|head|body|script)\b/i.test(text))
    throw new Error('the file is a web page, not CSV');
  if (text.slice(0, 4096).includes('\0')) throw new Error('the file is not text');
  const table = readTable(text, (names) => isHeader(names, columns));
  if (table) return table;
  throw new Error(
    columns.date === undefined
      ? `no line has a column "date" beside another one; say which it is with --date-column (the file starts with ${quote(firstLine(text))})`
      : `no line has a column "${columns.date}" (the file starts with ${quote(firstLine(text))})`,
  );
}

function readRow(line: number, cells: readonly string[], read: Reading): void {
  const { columns, gathering } = read;
  const dateText = cells[columns.date] ?? '';
  const day = dayOf(dateText, read);
  const symbol = columns.symbol === undefined ? '' : (cells[columns.symbol] ?? '').toUpperCase();
  const texts = columns.prices.map((column) => cells[column] ?? '');
  const prices = texts.map((text) => readNumber(text, read.mark));
  const wrong = prices.indexOf(undefined);

  if (day === undefined) gathering.refuse(line, `${quote(dateText)} is not a day`);
  else if (day > read.latestDay) gathering.refuse(line, `${printDay(day)} is in the future`);
  else if (columns.symbol !== undefined && symbol === '') gathering.refuse(line, 'it names no symbol');
  else if (prices.includes('missing')) gathering.missing++;
  else if (wrong >= 0) gathering.refuse(line, notANumber(texts[wrong]!, read.mark));
  else {
    const [open, high = open, low = open, close = open] = prices as [number, ...number[]];
    gathering.take(symbol, day, { open, high, low, close }, line);
  }
}

const DAYS_KEPT = 50_000;

function dayOf(text: string, { days, order, zone }: Reading): Day | undefined {
  const known = days.get(text);
  if (known !== undefined) return known;
  const day = readDay(text, order, zone);
  if (days.size >= DAYS_KEPT) days.clear();
  days.set(text, day);
  return day;
}

function notANumber(text: string, mark: DecimalMark | undefined): string {
  return mark === undefined && /\d,\d/.test(text)
    ? `${quote(text)} may be thousands or a decimal comma; say --decimal comma or point`
    : `${quote(text)} is not a number`;
}

function* cellsOf({ rows }: Table, columns: readonly number[]): Generator<string> {
  for (const { cells } of rows) {
    for (const column of columns) yield cells[column] ?? '';
  }
}
