/** Longer lines are hard to read, however wide the terminal is. */
const WIDTH_MAX = 100;

/** With less room for it, a text begins below its head instead of beside it. */
const TEXT_WIDTH_MIN = 30;
const INDENT_BELOW = '      ';

/** The width of what a command prints: that of the terminal. What programs read is not wrapped. */
export function outputWidth({ isTTY, columns }: { isTTY?: boolean; columns?: number }): number {
  return isTTY && columns ? Math.min(columns, WIDTH_MAX) : Number.POSITIVE_INFINITY;
}

/** Wraps a text at spaces; the lines after the first are indented. A longer word stays whole. */
export function wrap(text: string, width: number, indent = ''): string {
  if (width === Number.POSITIVE_INFINITY) return text;
  return Bun.wrapAnsi(text, Math.max(1, width - indent.length)).replaceAll('\n', `\n${indent}`);
}

/** A text that begins in a column beside its head. */
export function beside(head: string, column: number, text: string, width: number): string {
  const isNarrow = width - column < TEXT_WIDTH_MIN;
  const indent = isNarrow ? INDENT_BELOW : ' '.repeat(column);
  const start = isNarrow ? (head === '' ? indent : `${head}\n${indent}`) : head.padEnd(column);
  return start + wrap(text, width, indent);
}

/** Names and what they stand for, in two columns. */
export function definitions(rows: readonly (readonly [name: string, text: string])[], width: number): string {
  const column = Math.max(...rows.map(([name]) => name.length)) + 4;
  return rows.map(([name, text]) => beside(`  ${name}`, column, text, width)).join('\n');
}
