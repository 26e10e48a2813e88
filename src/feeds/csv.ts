import { parse } from 'csv-parse/sync';
import type { Bar } from '../market/bar.ts';
import { type Day, parseDay, printDay } from '../market/day.ts';
import { parseNumber } from '../market/decimal.ts';

/** What a file says: its bars, and what could not be taken, by line. */
export interface ParsedCsv {
  bars: Bar[];
  /** Rows with a day and no value. Missing is never zero. */
  missing: number;
  /** Rows that cannot be used. */
  refused: { line: number; reason: string }[];
  /** Bars whose low or high does not hold its open and close. They are kept: a source's word is not repaired. */
  odd: { line: number; reason: string }[];
}

const MISSING = new Set(['', '.', '..', '…', '-', 'n/a', 'na', 'null', 'nan', 'none', '#n/a']);
const VALUE_NAMES = ['close', 'price', 'value', 'rate', 'settle', 'last'];

interface Columns {
  date: number;
  /** Four columns, or one that is all four. */
  ohlc: { open: number; high: number; low: number; close: number } | { value: number };
}

/**
 * Reads a CSV with a column `date` and either `open,high,low,close` or a single value, in any order of columns and
 * rows. Throws when the header does not tell which is which. `latestDay` is the last day that a row may have.
 */
export function parseCsv(text: string, latestDay: Day): ParsedCsv {
  const lines: number[] = [];
  const records = parse(text, {
    bom: true,
    on_record(record: string[], info) {
      lines.push(info.lines);
      return record;
    },
    trim: true,
    delimiter: delimiterOf(text),
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  });
  const [header, ...rows] = records;
  if (!header) throw new Error('the file is empty');
  const columns = findColumns(header);
  const parsed: ParsedCsv = { bars: [], missing: 0, refused: [], odd: [] };
  const lineOfDay = new Map<Day, number>();
  for (const [i, record] of rows.entries()) {
    readRow(record, lines[i + 1]!, columns, latestDay, lineOfDay, parsed);
  }
  return parsed;
}

function readRow(
  record: readonly string[],
  line: number,
  columns: Columns,
  latestDay: Day,
  lineOfDay: Map<Day, number>,
  parsed: ParsedCsv,
): void {
  const refuse = (reason: string): void => {
    parsed.refused.push({ line, reason });
  };
  const dateText = (record[columns.date] ?? '').replace(/[T ]00:00(:00(\.0+)?)?Z?$/, '');
  const day = parseDay(dateText);
  const { ohlc } = columns;
  const cells = 'value' in ohlc ? [ohlc.value] : [ohlc.open, ohlc.high, ohlc.low, ohlc.close];
  const texts = cells.map((cell) => record[cell] ?? '');
  const values = texts.map((text) => parseNumber(withoutGrouping(text)));
  const wrong = values.indexOf(undefined);

  if (day === undefined) refuse(`"${dateText}" is not a day as YYYY-MM-DD`);
  else if (day > latestDay) refuse(`${dateText} is in the future`);
  else if (texts.some((text) => MISSING.has(text.toLowerCase()))) parsed.missing++;
  else if (wrong >= 0) refuse(`"${texts[wrong]}" is not a number`);
  else if (lineOfDay.has(day)) refuse(`${printDay(day)} is already on line ${lineOfDay.get(day)}`);
  else {
    lineOfDay.set(day, line);
    const [open, high = open, low = open, close = open] = values as [number, ...number[]];
    if (low > Math.min(open, close, high) || high < Math.max(open, close)) {
      const reason = `open ${open}, high ${high}, low ${low}, close ${close} do not fit together`;
      parsed.odd.push({ line, reason });
    }
    parsed.bars.push({ day, open, high, low, close });
  }
}

function findColumns(header: readonly string[]): Columns {
  const names = header.map((name) => name.trim().toLowerCase());
  const date = names.findIndex((name) => name === 'date' || name === 'day' || name === 'observation_date');
  if (date < 0) throw new Error(`the first line has no column "date" (it has ${header.join(', ')})`);
  const [open, high, low, close] = ['open', 'high', 'low', 'close'].map((name) => names.indexOf(name));
  if ([open, high, low, close].every((index) => index !== undefined && index >= 0)) {
    return { date, ohlc: { open: open!, high: high!, low: low!, close: close! } };
  }
  const others = names.map((_, index) => index).filter((index) => index !== date && names[index] !== '');
  const named = others.filter((index) => VALUE_NAMES.includes(names[index]!));
  const value = others.length === 1 ? others[0] : named.length === 1 ? named[0] : undefined;
  if (value === undefined) {
    throw new Error(
      `the first line must name open, high, low and close, or one value column (it has ${header.join(', ')})`,
    );
  }
  return { date, ohlc: { value } };
}

/** The first line tells: a semicolon or a tab there is never part of a name. */
function delimiterOf(text: string): string {
  const firstLine = text.slice(0, text.indexOf('\n') + 1 || text.length);
  if (firstLine.includes('\t')) return '\t';
  return firstLine.includes(';') ? ';' : ',';
}

/** `1,234.5` as `1234.5`. */
function withoutGrouping(text: string): string {
  return /^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/.test(text) ? text.replaceAll(',', '') : text;
}
