import { type ColumnIndexes, type CsvColumns, columnsOfData, findColumns, isHeader } from '../csv/columns.ts';
import { quote } from '../formats/cell.ts';

/** Where the data of a table starts, and its columns. */
export interface Layout {
  columns: ColumnIndexes;
  /** How many cells the header has; undefined without a header. */
  headerCells?: number;
  /** The index of the first row with data. */
  firstRow: number;
}

type Row = readonly string[];

/** How many rows are searched for a header: EIA's files have four or five lines before it. */
export const HEAD_ROWS_MAX = 60;

/**
 * Finds the header among the first rows of a table, or the first row of data if there is none. `tables` are the same rows, split
 * by each delimiter; the first that fits wins.
 */
export function findLayout(
  tables: readonly (readonly Row[])[],
  columns: CsvColumns,
): (Layout & { table: number }) | undefined {
  for (const layoutAt of [layoutBelowHeader, layoutOfData]) {
    for (let row = 0; row < HEAD_ROWS_MAX; row++) {
      for (const [table, rows] of tables.entries()) {
        const layout = rows[row] && layoutAt(rows, row, columns);
        if (layout) return { ...layout, table };
      }
    }
  }
  return undefined;
}

/** Explains why no layout was found, and quotes the first row. */
export function noLayout(columns: CsvColumns, firstRow: string): Error {
  if (/^\s*[[{]/.test(firstRow))
    return new Error('the file is JSON, not a table; save it as CSV, or send its prices to POST /admin/bars');
  const starts = `(the file starts with ${quote(firstRow)})`;
  const isNumber = (name: string) => /^\d+$/.test(name);
  if (columns.date !== undefined) {
    if (!isNumber(columns.date))
      return new Error(`no line has a column "${columns.date}"; check --date-column ${starts}`);
    const prices = columns.value === undefined ? columns.ohlc : [columns.value];
    const [andPrices, andOption] = prices
      ? [
          ` and a price in column ${prices.join(', ')}`,
          ` and ${columns.ohlc ? '--ohlc-columns' : '--value-column'}`,
        ]
      : ['', ''];
    return new Error(
      `no line has a date in column ${columns.date}${andPrices}; check --date-column${andOption} ${starts}`,
    );
  }
  const named = [columns.value, columns.symbol, ...(columns.ohlc ?? [])].find(
    (name) => name !== undefined && !isNumber(name),
  );
  return new Error(
    named === undefined
      ? `it is not clear which columns have the date and the prices; choose them with --date-column and --value-column or --ohlc-columns, by name or by number from 1 ${starts}`
      : `no line has a column "${named}" beside a date; name the date's column with --date-column ${starts}`,
  );
}

function layoutBelowHeader(rows: readonly Row[], at: number, columns: CsvColumns): Layout | undefined {
  const yfinance = yfinanceHeader(rows, at);
  if (yfinance) return belowHeader(yfinance, at + 3, columns);
  const header = rows[at]!;
  return isHeader(header, columns) ? belowHeader(header, at + 1, columns) : undefined;
}

function belowHeader(header: Row, firstRow: number, columns: CsvColumns): Layout {
  return { columns: findColumns(header, columns), headerCells: header.length, firstRow };
}

function layoutOfData(rows: readonly Row[], at: number, columns: CsvColumns): Layout | undefined {
  const found = columnsOfData(rows[at]!, columns);
  return found && { columns: found, firstRow: at };
}

/**
 * The header of yfinance files since 2024, which has three lines:
 *
 *     Price,Close,High,Low,Open,Volume
 *     Ticker,GC=F,GC=F,GC=F,GC=F,GC=F
 *     Date,,,,,
 *
 * With several tickers a column is named by both: `Close GC=F`.
 */
function yfinanceHeader(rows: readonly Row[], at: number): string[] | undefined {
  const [prices, tickers, date] = [rows[at]!, rows[at + 1], rows[at + 2]];
  if (!tickers || !date || !/^(price|)$/i.test(prices[0] ?? '') || !/^ticker$/i.test(tickers[0] ?? ''))
    return undefined;
  if (!/^date(time)?$/i.test(date[0] ?? '') || date.slice(1).some((name) => name !== '')) return undefined;
  const several = new Set(tickers.slice(1).filter((ticker) => ticker !== '')).size > 1;
  return prices.map((name, i) => (i === 0 ? date[0]! : several ? `${name} ${tickers[i] ?? ''}` : name));
}
