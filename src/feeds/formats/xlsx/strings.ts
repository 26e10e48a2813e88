import { XmlReader } from '../xml.ts';

/** Excel's own limit for one cell. */
export const CELL_CHARS_MAX = 32_767;
/** One for each row of a full sheet. */
const STRINGS_MAX = 1_048_576;
const CHARS_MAX = 64_000_000;

/** Reads the shared strings of a workbook, chunk by chunk. Cells refer to them by index. */
export class SharedStrings {
  readonly texts: string[] = [];
  #chars = 0;
  readonly #text = new RichText();
  readonly #reader = new XmlReader({
    open: (name) => {
      if (name === 'si') this.#text.clear();
      else this.#text.open(name);
    },
    text: (more) => this.#text.add(more),
    close: (name) => {
      if (name === 'si') this.#add(this.#text.take());
      else this.#text.close(name);
    },
  });

  write(chunk: string): void {
    this.#reader.write(chunk);
  }

  end(): readonly string[] {
    this.#reader.end();
    return this.texts;
  }

  #add(text: string): void {
    this.texts.push(text);
    this.#chars += text.length;
    if (this.texts.length > STRINGS_MAX || this.#chars > CHARS_MAX)
      throw new Error(`the workbook has more than ${STRINGS_MAX} texts or ${CHARS_MAX} characters of text`);
  }
}

/** Text in one or more runs of different formats. Skips phonetic hints. */
export class RichText {
  #text = '';
  #isText = false;
  #phonetic = 0;

  clear(): void {
    this.#text = '';
  }

  open(name: string): void {
    if (name === 'rPh') this.#phonetic++;
    this.#isText = name === 't' && this.#phonetic === 0;
  }

  close(name: string): void {
    if (name === 'rPh') this.#phonetic--;
    this.#isText = false;
  }

  add(more: string): void {
    if (!this.#isText) return;
    this.#text += more;
    if (this.#text.length > CELL_CHARS_MAX)
      throw new Error(`a cell has more than ${CELL_CHARS_MAX} characters`);
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }
}
