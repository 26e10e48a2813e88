import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { MS_PER_DAY } from '../../market/day.ts';
import type { ColumnType, FlatColumn } from '../model/table.ts';

/** Values per row group. It bounds the memory of the encoder, and the time for which its thread is busy. */
const GROUP_VALUES_MAX = 600_000;
const GROUP_ROWS_MAX = 50_000;

type JsonValue = string | number | boolean | null;
type ParquetValue = string | number | bigint | boolean | Date | null;

/**
 * Encodes the rows of a table as Parquet, row group by row group. Rows arrive as NDJSON, which every table can be written
 * as. Equal rows give equal bytes, on every replica.
 */
export class ParquetEncoder {
  readonly #columns: readonly FlatColumn[];
  readonly #groupRows: number;
  readonly #output = new ByteWriter();
  readonly #writer: ParquetWriter;
  readonly #decoder = new TextDecoder();
  /** The beginning of a line whose end has not arrived. */
  #line = '';
  #group: ParquetValue[][];
  #rows = 0;

  constructor(columns: readonly FlatColumn[]) {
    this.#columns = columns;
    this.#groupRows = Math.min(GROUP_ROWS_MAX, Math.ceil(GROUP_VALUES_MAX / columns.length));
    this.#writer = new ParquetWriter({ writer: this.#output, schema: schemaOf(columns) });
    this.#group = columns.map(() => []);
  }

  /** Adds rows. A chunk may end within a line. Returns the bytes that are complete. */
  add(ndjson: Uint8Array): Uint8Array<ArrayBuffer> {
    const text = this.#line + this.#decoder.decode(ndjson, { stream: true });
    const end = text.lastIndexOf('\n');
    this.#line = text.slice(end + 1);
    if (end > 0) {
      for (const row of JSON.parse(`[${text.slice(0, end).replaceAll('\n', ',')}]`)) this.#addRow(row);
    }
    return this.#takeBytes();
  }

  /** Ends the file. Returns its last bytes. */
  finish(): Uint8Array<ArrayBuffer> {
    if (this.#line !== '') throw new Error('the last row of a table is incomplete');
    this.#writeGroup();
    this.#writer.finish();
    return this.#takeBytes();
  }

  #addRow(row: Readonly<Record<string, JsonValue>>): void {
    const columns = this.#columns;
    for (let i = 0; i < columns.length; i++) {
      const { name, type } = columns[i]!;
      const value = row[name]!;
      this.#group[i]!.push(value === null ? null : CONVERT[type](value));
    }
    if (++this.#rows === this.#groupRows) this.#writeGroup();
  }

  #writeGroup(): void {
    if (this.#rows === 0) return;
    const columnData = this.#columns.map(({ name, type }, i) => {
      const data = this.#group[i]!;
      return type === 'text' ? { name, data, encoding: 'RLE_DICTIONARY' as const } : { name, data };
    });
    this.#writer.write({ columnData, rowGroupSize: this.#rows });
    this.#group = this.#columns.map(() => []);
    this.#rows = 0;
    Bun.gc(true); // a group leaves much behind, and the heap would grow with every one
  }

  #takeBytes(): Uint8Array<ArrayBuffer> {
    const bytes = this.#output.getBytes().slice();
    this.#output.index = 0;
    return bytes;
  }
}

/** Most integers are counts of a few bars. */
const SMALL_INTEGERS: readonly bigint[] = Array.from({ length: 32 }, (_, i) => BigInt(i));

/** The date that was converted last: the rows of a date follow each other. */
const lastDate = { text: '', day: Number.NaN };

function dayOf(text: string): number {
  if (text !== lastDate.text) {
    lastDate.text = text;
    lastDate.day = Date.parse(text) / MS_PER_DAY;
  }
  return lastDate.day;
}

const CONVERT: Readonly<Record<ColumnType, (value: string | number | boolean) => ParquetValue>> = {
  text: (value) => value,
  date: (value) => dayOf(value as string),
  time: (value) => new Date(value as string),
  number: (value) => value,
  integer: (value) => SMALL_INTEGERS[value as number] ?? BigInt(value),
  boolean: (value) => value,
};

/** Prices are doubles, the numbers that the other formats print (docs/decisions/0017). */
const ELEMENT: Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  number: { type: 'DOUBLE' },
  integer: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
};

function schemaOf(columns: readonly FlatColumn[]): SchemaElement[] {
  const elements = columns.map(({ name, type }): SchemaElement => {
    return { name, repetition_type: 'OPTIONAL', ...ELEMENT[type] };
  });
  return [{ name: 'schema', num_children: columns.length }, ...elements];
}
