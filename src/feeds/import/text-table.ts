import type { CsvColumns } from '../csv/columns.ts';
import {
  afterLineEnd,
  closingQuote,
  DELIMITERS,
  LINE_CHARS_MAX,
  RowSplitter,
  type TextRow,
} from '../csv/row-splitter.ts';
import { encodingOf } from '../formats/body.ts';
import type { ByteSource } from './bytes.ts';
import { findLayout, HEAD_ROWS_MAX, type Layout, noLayout } from './layout.ts';
import type { PriceTable } from './price-table.ts';

/** Opens delimited text. */
export async function openText(source: ByteSource, columns: CsvColumns): Promise<PriceTable> {
  const layout = findTextLayout(await headOf(source), columns);
  return {
    layout,
    delimiter: layout.delimiter,
    async *rows(onRead): AsyncGenerator<TextRow[]> {
      const splitter = new RowSplitter(layout.delimiter, layout.firstLine);
      let skip = layout.start;
      for await (const text of textOf(source, onRead)) {
        const used = Math.min(skip, text.length);
        skip -= used;
        if (used < text.length) yield splitter.push(text.slice(used));
      }
      yield splitter.end();
    },
  };
}

export interface TextLayout extends Layout {
  delimiter: string;
  /** The line of the first row of data, from 1. */
  firstLine: number;
  /** Offset of the first row of data, in characters. */
  start: number;
}

/** Finds delimiter, header and columns in the first lines of a text. */
export function findTextLayout(head: string, columns: CsvColumns): TextLayout {
  if (head.trim() === '') throw new Error('the file is empty');
  const lines = linesOf(head);
  const tables = DELIMITERS.map((delimiter) => lines.map(({ text }) => cellsOf(text, delimiter)));
  const layout = findLayout(tables, columns);
  if (!layout) {
    const first = lines.find(({ text }) => text.trim() !== '')?.text ?? '';
    throw noLayout(columns, first.slice(0, 200));
  }
  const { start, line } = lines[layout.firstRow] ?? { start: head.length, line: layout.firstRow + 1 };
  return { ...layout, delimiter: DELIMITERS[layout.table]!, firstLine: line, start };
}

/** Reads as much text as is searched for a header. */
async function headOf(source: ByteSource): Promise<string> {
  let head = '';
  for await (const text of textOf(source)) {
    head += text;
    if (head.length > LINE_CHARS_MAX || linesOf(head).length > HEAD_ROWS_MAX) break;
  }
  return head;
}

/** Decodes a file. Throws if it is not text. */
async function* textOf(source: ByteSource, onRead?: (fileBytes: number) => void): AsyncGenerator<string> {
  let decoder: FileDecoder | undefined;
  for await (const chunk of source.chunks(onRead)) {
    decoder ??= new FileDecoder(chunk);
    const text = decoder.decode(chunk);
    if (text.includes('\0'))
      throw new Error('the file is not text in UTF-8 or Windows-1252, or in UTF-16 with a byte order mark');
    yield text;
  }
  const last = decoder?.decode();
  if (last) yield last;
}

/**
 * Decodes what a byte order mark names. Without one, decodes UTF-8, and Windows-1252 from the first chunk on that is not UTF-8:
 * Excel saves CSV in it in Western Europe, where a thousands separator may be a no-break space, one byte that UTF-8 does not allow.
 */
class FileDecoder {
  #decoder: TextDecoder;

  constructor(start: Uint8Array) {
    const encoding = encodingOf(start);
    const isGuess = encoding === 'utf-8' && start[0] !== 0xef;
    this.#decoder = new TextDecoder(encoding, { fatal: isGuess });
  }

  /** Without a chunk, returns what an incomplete character at the end of the file is read as. */
  decode(chunk?: Uint8Array): string {
    try {
      return this.#decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      this.#decoder = new TextDecoder('windows-1252');
      return this.#decoder.decode(chunk);
    }
  }
}

/** The first rows with their offsets and lines, including blank ones. A quoted cell may have several lines. */
function linesOf(text: string): { text: string; start: number; line: number }[] {
  const lines: { text: string; start: number; line: number }[] = [];
  let line = 1;
  for (let start = 0; start <= text.length && lines.length <= HEAD_ROWS_MAX + 2; ) {
    const end = endOfRow(text, start);
    const row = text.slice(start, end);
    lines.push({ text: row, start, line });
    line += 1 + (row.match(/\r\n|\n|\r/g)?.length ?? 0);
    start = afterLineEnd(text, end);
  }
  return lines;
}

const QUOTED_CELL = /[^\S\r\n]*"/y;
const AFTER_QUOTE = /[^\S\r\n]*(?:[,;\t|]|(?=[\r\n])|$)/y;
const CELL_END = /[,;\t|\r\n]|$/g;

/** The index of the line end that is not inside a quoted cell. A quote that no cell ends with is a character. */
function endOfRow(text: string, start: number): number {
  for (let at = start; ; ) {
    QUOTED_CELL.lastIndex = at;
    const closing = QUOTED_CELL.test(text) ? closingQuote(text, QUOTED_CELL.lastIndex) : -1;
    AFTER_QUOTE.lastIndex = closing + 1;
    if (closing >= 0 && AFTER_QUOTE.test(text)) at = closing + 1;
    CELL_END.lastIndex = at;
    const { index, 0: end } = CELL_END.exec(text)!;
    if (end === '' || end === '\r' || end === '\n') return index;
    at = index + 1;
  }
}

/** A line that is not valid CSV has no cells: it is not a header. */
function cellsOf(line: string, delimiter: string): readonly string[] {
  if (line.length > LINE_CHARS_MAX) return [];
  try {
    const splitter = new RowSplitter(delimiter);
    const rows = [...splitter.push(`${line}\n`), ...splitter.end()];
    return rows[0]?.cells ?? [];
  } catch {
    return [];
  }
}
