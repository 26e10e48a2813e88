import type { Parameter } from './parameter.ts';

const parameter = (name: string, description: string, values?: readonly string[]): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema: values ? { type: 'string', enum: values } : { type: 'string' },
});

/** How an uploaded file is read. */
export const IMPORT_PARAMETERS = {
  importSymbol: parameter(
    'symbol',
    'The symbol of all prices in the file, or an exchange rate such as EUR/USD.',
  ),
  symbolColumn: parameter('symbolColumn', 'Instead of `symbol`: the column with the symbol of each row.'),
  importSource: parameter('source', 'The source of the prices, shown in the metadata.'),
  fileName: parameter('file', 'The name of the file, for the list of imports.'),
  dateColumn: parameter('dateColumn', 'Column of the date, by name or by number from 1.'),
  valueColumn: parameter('valueColumn', 'Column of the price, by name or number.'),
  ohlcColumns: parameter(
    'ohlcColumns',
    'Instead of `valueColumn`: the columns of open, high, low and close, separated by commas.',
  ),
  dateOrder: parameter(
    'dateOrder',
    'How to read dates such as 03/04/2026, if every date in the file is ambiguous.',
    ['dmy', 'mdy'],
  ),
  decimal: parameter(
    'decimal',
    'How to read numbers such as 1,234, if every number in the file is ambiguous.',
    ['comma', 'point'],
  ),
  sheet: parameter('sheet', 'Sheet of a workbook, or file in a zip, if there are several.'),
  zone: parameter(
    'zone',
    'Time zone that determines the day of a timestamp with an offset, such as Europe/London.',
  ),
  accept: parameter('accept', '`true` publishes suspicious prices instead of holding them back.', [
    'true',
    'false',
  ]),
  importDryRun: parameter('dryRun', '`true` reads and checks the file, and writes nothing.', [
    'true',
    'false',
  ]),
} as const satisfies Record<string, Parameter>;
