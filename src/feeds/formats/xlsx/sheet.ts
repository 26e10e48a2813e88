import { printDay } from '../../../market/day.ts';
import { type Attributes, XmlReader } from '../xml.ts';
import { CELL_CHARS_MAX, RichText } from './strings.ts';
import { dayOfSerial } from './styles.ts';

/** A row of a sheet: its number in Excel, and the text of its non-empty cells by column (0 is A). */
export interface SheetRow {
  number: number;
  cells: ReadonlyMap<number, string>;
}

export interface SheetContext {
  strings: readonly string[];
  /** Indexes of cell styles that format a number as a date. Without them dates stay serial numbers. */
  dateStyles?: ReadonlySet<number>;
  /** Whether serial numbers count from 1904, as in old Mac files. */
  from1904?: boolean;
}

/** Excel's own limits. */
const COLUMNS_MAX = 16_384;
const ROWS_MAX = 1_048_576;

/** Reads a worksheet chunk by chunk, with one row in memory. Skips empty cells. */
export class SheetReader {
  readonly #context: SheetContext;
  readonly #onRow: (row: SheetRow) => void;
  readonly #reader: XmlReader;
  readonly #inline = new RichText();
  #rows = 0;
  #number = 0;
  #cells = new Map<number, string>();
  #cellCount = 0;
  #column = -1;
  #cell: Attributes | undefined;
  #isValue = false;
  #value = '';

  constructor(context: SheetContext, onRow: (row: SheetRow) => void) {
    this.#context = context;
    this.#onRow = onRow;
    this.#reader = new XmlReader({
      open: (name, attributes) => this.#open(name, attributes),
      text: (text) => this.#text(text),
      close: (name) => this.#close(name),
    });
  }

  write(chunk: string): void {
    this.#reader.write(chunk);
  }

  end(): void {
    this.#reader.end();
  }

  #open(name: string, attributes: Attributes): void {
    if (name === 'row') this.#openRow(attributes);
    else if (name === 'c') this.#openCell(attributes);
    else if (this.#cell) {
      this.#isValue = name === 'v';
      this.#inline.open(name);
    }
  }

  #openRow({ r }: Attributes): void {
    if (++this.#rows > ROWS_MAX) throw new Error(`the sheet has more than ${ROWS_MAX} rows`);
    this.#number = Number(r) || this.#number + 1;
    this.#cells = new Map();
    this.#cellCount = 0;
    this.#column = -1;
  }

  #openCell(attributes: Attributes): void {
    if (++this.#cellCount > COLUMNS_MAX)
      throw new Error(`row ${this.#number} of the sheet has more than ${COLUMNS_MAX} cells`);
    this.#column = columnOf(attributes.r) ?? this.#column + 1;
    this.#cell = attributes;
    this.#value = '';
    this.#inline.clear();
  }

  #text(text: string): void {
    if (!this.#cell) return;
    this.#inline.add(text);
    if (!this.#isValue) return;
    this.#value += text;
    if (this.#value.length > CELL_CHARS_MAX)
      throw new Error(`a cell has more than ${CELL_CHARS_MAX} characters`);
  }

  #close(name: string): void {
    if (name === 'row') this.#onRow({ number: this.#number, cells: this.#cells });
    else if (name === 'c' && this.#cell) this.#closeCell(this.#cell);
    else {
      this.#isValue = false;
      this.#inline.close(name);
    }
  }

  #closeCell(cell: Attributes): void {
    this.#cell = undefined;
    if (this.#column >= COLUMNS_MAX) return;
    const text = this.#cellText(cell).trim();
    if (text !== '') this.#cells.set(this.#column, text);
  }

  #cellText({ t: type = 'n', s: style }: Attributes): string {
    const { strings, dateStyles, from1904 = false } = this.#context;
    if (type === 'inlineStr') return this.#inline.take();
    if (type === 's') return strings[Number(this.#value)] ?? '';
    if (type !== 'n') return this.#value;
    const day = dateStyles?.has(Number(style)) ? dayOfSerial(Number(this.#value), from1904) : undefined;
    return day === undefined ? published(this.#value) : printDay(day);
  }
}

/**
 * Excel writes a float64 with 17 digits: 1.14 is 1.1400000000000001 in the file. It displays 15 significant digits, so those are
 * what was published.
 */
function published(text: string): string {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? String(Number(value.toPrecision(15))) : text;
}

/** `BT803` is column 71. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^([A-Z]{1,3})\d/.exec(reference ?? '')?.[1];
  if (!letters) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}
