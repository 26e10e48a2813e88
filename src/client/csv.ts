import { printNumber } from '../market/decimal.ts';

/** Rows as CSV (RFC 4180, with plain line ends and none at the end), with texts as `textOf` writes them. */
export function csv(
  head: readonly string[],
  rows: Iterable<readonly (string | number)[]>,
  textOf = csvText,
): string {
  const lines = [head.map(textOf).join(',')];
  for (const row of rows) {
    lines.push(row.map((cell) => (typeof cell === 'number' ? printNumber(cell) : textOf(cell))).join(','));
  }
  return lines.join('\n');
}

/** Spreadsheets execute text that starts like this as a formula. A leading apostrophe prevents that. */
const FORMULA = /^[=+\-@\t\r]/;

/** A text as a cell that is safe to open in a spreadsheet. */
export function csvText(text: string): string {
  return quoted(FORMULA.test(text) ? `'${text}` : text);
}

/** A text as a cell, unchanged. */
export function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
