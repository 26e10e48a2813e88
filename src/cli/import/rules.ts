import type { CsvColumns } from '../../feeds/csv/columns.ts';
import type { FileRules } from '../../feeds/import/stage-file.ts';
import { isZone } from '../../market/zone.ts';
import { type CommandCall, type Flag, UsageError } from '../framework/command.ts';

/** The options that say how to read a file. */
export const FILE_FLAGS: Readonly<Record<string, Flag>> = {
  'symbol-column': { value: 'NAME', help: 'Instead of --symbol: the column with the symbol of each row' },
  'date-column': { value: 'NAME', help: 'Column of the date, by name or by number from 1' },
  'value-column': { value: 'NAME', help: 'Column of the price, by name or number' },
  'ohlc-columns': {
    value: 'O,H,L,C',
    help: 'Instead of --value-column: the columns of open, high, low and close',
  },
  'date-order': {
    value: 'dmy|mdy',
    help: 'How to read dates such as 03/04/2026, if every date in the file is ambiguous',
  },
  decimal: {
    value: 'comma|point',
    help: 'How to read numbers such as 1,234, if every number in the file is ambiguous',
  },
  sheet: { value: 'NAME', help: 'Sheet of a workbook, or file in a zip, if there are several' },
  zone: {
    value: 'ZONE',
    help: 'Time zone that determines the day of a timestamp with an offset, such as Europe/London',
  },
};

/** The rules for reading the file, from the options. */
export function fileRules(call: CommandCall): Omit<FileRules, 'now' | 'symbolOf'> {
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
  if (value) throw new UsageError('openpit import takes --value-column or --ohlc-columns, not both');
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
