import type { CsvColumns } from '../../feeds/csv/columns.ts';
import type { FileRules } from '../../feeds/import/stage-file.ts';
import { zoneOffset } from '../../market/zone.ts';
import { type CommandCall, type Flag, UsageError } from '../framework/command.ts';

/** The flags that say how to read a file. */
export const FILE_FLAGS: Readonly<Record<string, Flag>> = {
  'symbol-column': { value: 'NAME', help: 'or the column that names the symbol of each row' },
  'date-column': { value: 'NAME', help: 'the column of the date; by name, or by number from 1' },
  'value-column': { value: 'NAME', help: 'the one column that is the price; by name or number' },
  'ohlc-columns': { value: 'O,H,L,C', help: 'or four columns: open, high, low and close' },
  'date-order': { value: 'dmy|mdy', help: 'what 03/04/2026 means, where no date in the file settles it' },
  decimal: { value: 'comma|point', help: 'what 1,234 means, where no number in the file settles it' },
  sheet: { value: 'NAME', help: 'the sheet of a workbook, or the file in a zip, where there are several' },
  zone: {
    value: 'ZONE',
    help: 'the zone whose day a timestamp with an offset belongs to, such as Europe/London',
  },
};

/** What the flags say about the file. */
export function fileRules(call: CommandCall): Omit<FileRules, 'latestDay' | 'symbolOf'> {
  const zone = call.flag('zone');
  const part = call.flag('sheet');
  const dateOrder = oneOf(call, 'date-order', ['dmy', 'mdy'] as const);
  const decimal = oneOf(call, 'decimal', ['comma', 'point'] as const);
  if (zone && !isZone(zone))
    throw new UsageError(`--zone "${zone}" is not a time zone such as Europe/London`);
  return {
    columns: columnsOf(call),
    ...(dateOrder && { dateOrder }),
    ...(decimal && { decimal }),
    ...(zone && { zone }),
    ...(part && { part }),
  };
}

function columnsOf(call: CommandCall): CsvColumns {
  const columns: CsvColumns = {};
  const [date, value, symbol] = ['date-column', 'value-column', 'symbol-column'].map(call.flag);
  if (date) columns.date = date;
  if (value) columns.value = value;
  if (symbol) columns.symbol = symbol;
  const ohlc = call.flag('ohlc-columns')?.split(',');
  if (!ohlc) return columns;
  const [open, high, low, close, more] = ohlc;
  if (!open || !high || !low || !close || more !== undefined)
    throw new UsageError('--ohlc-columns must name four columns: open,high,low,close');
  return { ...columns, ohlc: [open, high, low, close] };
}

function oneOf<T extends string>(call: CommandCall, flag: string, allowed: readonly T[]): T | undefined {
  const text = call.flag(flag);
  const value = allowed.find((one) => one === text);
  if (text !== undefined && value === undefined)
    throw new UsageError(`--${flag} must be ${allowed.join(' or ')} (received "${text}")`);
  return value;
}

function isZone(zone: string): boolean {
  try {
    return zoneOffset(zone, 0) !== undefined;
  } catch {
    return false;
  }
}
