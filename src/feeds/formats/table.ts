import {
  afterLineEnd,
  COLUMNS_MAX,
  DELIMITERS,
  endOfLine,
  LINE_CHARS_MAX,
  RowSplitter,
  type TextRow,
} from '../csv/row-splitter.ts';

export interface TextTable {
  header: readonly string[];
  /** Split lazily, so that a body of millions of rows is not in memory twice: they can be read once. */
  rows: Iterable<TextRow>;
  delimiter: string;
}

/** How many lines are searched for a header: EIA's files have four or five lines before it. */
const PREAMBLE_LINES_MAX = 60;
/** How many characters are split at a time. */
const CHUNK_CHARS = 64 * 1024;

/**
 * Reads delimited text. The header is the first line that `isHeader` accepts with any delimiter; lines before it are skipped.
 * Cells are trimmed, and empty rows dropped. Undefined if no line is a header.
 */
export function readTable(
  text: string,
  isHeader: (names: readonly string[]) => boolean,
): TextTable | undefined {
  const plain = text.replace(/^\uFEFF/, '');
  let line = 1;
  let start = 0;
  for (; line <= PREAMBLE_LINES_MAX && start < plain.length; line++) {
    const end = endOfLine(plain, start);
    const head = plain.slice(start, Math.min(end, start + LINE_CHARS_MAX));
    const delimiter = DELIMITERS.find((one) => isHeader(splitQuoted(head, one)));
    if (delimiter !== undefined) {
      const rows = splitRows(plain.slice(start), delimiter, line);
      return { header: rows.next().value?.cells ?? [], rows, delimiter };
    }
    start = afterLineEnd(plain, end);
  }
  return undefined;
}

/** The first line of a text, for error messages. */
export function firstLine(text: string): string {
  return text.slice(0, Math.min(endOfLine(text, 0), 200)).replace(/^\uFEFF/, '');
}

/** Whether a row is a remark instead of data: it has one cell, with words. */
export function isFootnote(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell !== '');
  return filled.length === 1 && /^[\p{L}*†(©]/u.test(filled[0]!);
}

function* splitRows(text: string, delimiter: string, firstLineNumber: number): Generator<TextRow> {
  const splitter = new RowSplitter(delimiter, firstLineNumber);
  for (let at = 0; at < text.length; at += CHUNK_CHARS)
    yield* splitter.push(text.slice(at, at + CHUNK_CHARS));
  yield* splitter.end();
}

function splitQuoted(head: string, delimiter: string): string[] {
  return head.split(delimiter, COLUMNS_MAX + 1).map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim(),
  );
}
