import { parseNumber } from '../../market/decimal.ts';

const MISSING = new Set([
  '',
  '.',
  '..',
  '...',
  '…',
  '-',
  '--',
  '–',
  '—',
  'n/a',
  'n.a.',
  'na',
  'null',
  'nan',
  'none',
  'nd',
  '#n/a',
  'n/d',
  '(na)',
]);

/** A missing value is never read as zero. */
export function isMissing(text: string): boolean {
  return text.length <= 5 && MISSING.has(text.trim().toLowerCase());
}

/** The number in a cell; `missing` for an empty one; undefined if it is neither. */
export function readCell(cell: string | number | null | undefined): number | 'missing' | undefined {
  if (cell === null || cell === undefined) return 'missing';
  if (typeof cell === 'number') return Number.isFinite(cell) ? cell + 0 : undefined; // −0 + 0 is 0
  const text = cell.trim();
  return isMissing(text) ? 'missing' : parseNumber(text);
}

/** Quotes a cell for a message, shortened to one line. */
export function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return `"${line.length > 40 ? `${line.slice(0, 40)}…` : line}"`;
}
