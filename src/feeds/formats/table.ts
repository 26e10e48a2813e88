import { parse } from 'csv-parse/sync';
import { codeOf } from '../../runtime/log/log.ts';

export interface TextRow {
  line: number;
  cells: readonly string[];
}

export interface TextTable {
  header: readonly string[];
  /** Split lazily, so that a body of millions of rows is not in memory twice. */
  rows: Iterable<TextRow>;
  delimiter: string;
}

const DELIMITERS = [',', ';', '\t', '|'];
/** How many lines are searched for a header: EIA's files have four or five lines before it. */
const PREAMBLE_LINES_MAX = 60;
/** A price row has about a hundred characters. The longest header of a provider, ECB's, has 200. */
export const LINE_CHARS_MAX = 200_000;
/** The widest table of a provider, ECB's, has 42 columns. */
export const COLUMNS_MAX = 4_096;
/** Tables with quotes are parsed as a whole, unlike plain ones. ECB's full history has 300,000 cells. */
const QUOTED_CELLS_MAX = 4_000_000;

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
      return { ...splitHeader(rows), delimiter };
    }
    start = end + (plain.startsWith('\r\n', end) ? 2 : 1);
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

function splitRows(text: string, delimiter: string, firstLineNumber: number): Iterable<TextRow> {
  if (text.includes('"')) return splitQuotedRows(text, delimiter, firstLineNumber);
  return { [Symbol.iterator]: () => splitPlainRows(text, delimiter, firstLineNumber) };
}

function splitHeader(all: Iterable<TextRow>): { header: readonly string[]; rows: Iterable<TextRow> } {
  const [first] = all;
  const rows = function* (): Generator<TextRow> {
    for (const row of all) if (row.line !== first?.line) yield row;
  };
  return { header: first?.cells ?? [], rows: { [Symbol.iterator]: rows } };
}

/** Without quotes a row is a line, and splitting is ten times as fast. */
function* splitPlainRows(text: string, delimiter: string, firstLineNumber: number): Generator<TextRow> {
  let start = 0;
  for (let line = firstLineNumber; start <= text.length; line++) {
    const end = endOfLine(text, start);
    if (end - start > LINE_CHARS_MAX) throw tooLong(line);
    const row = text.slice(start, end);
    if (row.trim() !== '') yield { line, cells: cellsOf(row, delimiter, line) };
    start = end + (text.startsWith('\r\n', end) ? 2 : 1);
  }
}

function cellsOf(row: string, delimiter: string, line: number): string[] {
  const cells = splitCells(row, delimiter);
  if (cells.length > COLUMNS_MAX) throw tooWide(line);
  return cells;
}

/** Splits a row without quotes into trimmed cells; one more than `COLUMNS_MAX` if there are too many. */
export function splitCells(row: string, delimiter: string): string[] {
  const cells = row.split(delimiter, COLUMNS_MAX + 1);
  return SPACE.test(row) ? cells.map(trim) : cells; // most rows have no spaces
}

const SPACE = /[\s\uFEFF]/;

function splitQuotedRows(text: string, delimiter: string, firstLineNumber: number): TextRow[] {
  const rows: TextRow[] = [];
  let cells = 0;
  let excess: Error | undefined;
  try {
    parse(text, {
      on_record(record: string[], { lines }) {
        const line = lines + firstLineNumber - 1;
        cells += record.length;
        if (record.length > COLUMNS_MAX) excess = tooWide(line);
        else if (cells > QUOTED_CELLS_MAX)
          excess = new Error(`the table has more than ${QUOTED_CELLS_MAX} cells`);
        if (excess) throw excess;
        rows.push({ line, cells: record });
        return null;
      },
      trim: true,
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      max_record_size: LINE_CHARS_MAX,
    });
  } catch (error) {
    if (excess) throw excess;
    const code = codeOf(error);
    if (code === 'CSV_QUOTE_NOT_CLOSED') throw new Error('a quote is not closed; the file may be truncated');
    if (code === 'CSV_MAX_RECORD_SIZE') throw tooLong(rows.at(-1)?.line ?? firstLineNumber);
    throw new Error('the text is not well-formed CSV');
  }
  return rows;
}

function splitQuoted(head: string, delimiter: string): string[] {
  return head.split(delimiter, COLUMNS_MAX + 1).map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim(),
  );
}

const LINE_END = /[\r\n]/g;

function endOfLine(text: string, start: number): number {
  LINE_END.lastIndex = start;
  return LINE_END.exec(text)?.index ?? text.length;
}

function trim(cell: string): string {
  return cell.trim();
}

function tooWide(line: number): Error {
  return new Error(`line ${line} has more than ${COLUMNS_MAX} columns`);
}

function tooLong(line: number): Error {
  return new Error(`line ${line} or the one after it has more than ${LINE_CHARS_MAX} characters`);
}
