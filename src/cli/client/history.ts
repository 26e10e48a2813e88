import type { HistoryRow, PriceMetadata } from '../../client/answers.ts';
import { csv } from '../../client/csv.ts';
import { wholeHistory } from '../../client/history.ts';
import { LAST_DAY, printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import type { Command } from '../framework/command.ts';
import { printLine, printMessage } from '../framework/print-line.ts';
import { CONVERSION_FLAGS, OUTPUT_FLAGS, outputOf, requestOf } from './output.ts';
import { SOURCE_FLAGS, withRates } from './source.ts';
import { aligned, alignedTable } from './table.ts';

const FIELDS = ['open', 'high', 'low', 'close', 'average'] as const;

/** Of CSV, as in that of the service. */
const COLUMNS = 'date,symbol,open,high,low,close,unit,quote,factor,source,average,count'.split(',');

export const historyCommand: Command = {
  name: 'history',
  operands: ['SYMBOL...'],
  ledgerOptional: true,
  summary: 'Print open, high, low, close and average by minute, hour, day, week, month, quarter or year',
  details: 'A symbol is a code such as XAU, or a formula such as "{XAU}/{XAG}".',
  examples: ['history XAU --from 2024-01-01 --interval month', 'history XAU XAG --from 2024-01-01 --csv'],
  flags: {
    from: {
      value: 'DATE',
      required: true,
      help: 'The first day, as YYYY-MM-DD, or time of an interval shorter than a day',
    },
    to: { value: 'DATE', help: 'The last day or time; by default today' },
    interval: {
      value: 'NAME',
      help: 'minute, 5min, 15min, hour, day, week, month, quarter or year; by default day',
    },
    ...CONVERSION_FLAGS,
    ...OUTPUT_FLAGS,
    ...SOURCE_FLAGS,
  },
  async run(call) {
    const output = outputOf(call);
    const to = call.flag('to');
    const params = {
      ...requestOf(call),
      startDate: call.required('from'),
      endDate: to ?? printDay(LAST_DAY), // which means today, and that is tomorrow where the next session has begun
      interval: call.flag('interval') ?? 'day',
    };
    const { rows, metadata, warnings } = await withRates(call, (ask) => wholeHistory(ask, params));
    if (output === 'json')
      return printLine(JSON.stringify({ rates: rows, metadata, ...(warnings.length > 0 && { warnings }) }));
    if (output === 'table' && rows.length === 0)
      return printLine(
        [`No prices from ${params.startDate}${to === undefined ? '' : ` to ${to}`}.`, ...warnings].join(' '),
      );
    for (const warning of warnings) printMessage(warning); // a table has no place for them
    printLine(output === 'csv' ? historyCsv(rows, metadata) : historyTable(rows, metadata));
  },
};

function historyTable(
  rows: readonly HistoryRow[],
  metadata: Readonly<Record<string, PriceMetadata>>,
): string {
  const bySymbol = Map.groupBy(rows, ({ symbol }) => symbol);
  const blocks = [...bySymbol].map(([symbol, own]) => {
    const { quote, unit, source } = metadata[symbol]!;
    const measure = quote === 'none' ? '' : `, ${quote}/${unit}`;
    const cells = aligned(
      own.flatMap((row) => FIELDS.map((field) => printNumber(row[field]))),
      '0',
    );
    const lines = own.map(({ date }, i) => [
      date,
      ...cells.slice(i * FIELDS.length, (i + 1) * FIELDS.length),
    ]);
    const heads = [{ head: 'date' }, ...FIELDS.map((head) => ({ head, isNumber: true as const }))];
    return `${symbol}${measure}, source ${source}\n${alignedTable(heads, lines)}`;
  });
  return blocks.join('\n\n');
}

function historyCsv(rows: readonly HistoryRow[], metadata: Readonly<Record<string, PriceMetadata>>): string {
  return csv(
    COLUMNS,
    rows.map((row) => {
      const { unit = '', quote = '', source = '' } = metadata[row.symbol] ?? {};
      const { date, symbol, open, high, low, close, factor = 1, average, count } = row;
      return [date, symbol, open, high, low, close, unit, quote, factor, source, average, count];
    }),
  );
}
