import { printNumber } from '../market/decimal.ts';

/** Rows as CSV (RFC 4180, with plain line ends and none at the end). */
export function csv(head: readonly string[], rows: Iterable<readonly (string | number)[]>): string {
  const lines = [head.join(',')];
  for (const row of rows) {
    lines.push(row.map((cell) => (typeof cell === 'number' ? printNumber(cell) : quoted(cell))).join(','));
  }
  return lines.join('\n');
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
