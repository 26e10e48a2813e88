import { expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { duckdb } from '../../../test/support/duckdb.ts';
import { newFolder } from '../../../test/support/ledger.ts';
import { columnsOf, type FlatRow, tableWriter } from '../model/table.ts';
import { ParquetEncoder } from './parquet-encoder.ts';

const COLUMNS = columnsOf('day:date name price:number count:integer stale:boolean at:time');

/** Encodes rows from chunks that end anywhere. */
function encode(rows: readonly FlatRow[], chunkBytes: number): Buffer {
  const encoder = new ParquetEncoder(COLUMNS);
  const ndjson = Buffer.from(tableWriter('ndjson').body(COLUMNS, rows));
  const parts: Uint8Array[] = [];
  for (let at = 0; at < ndjson.length; at += chunkBytes) {
    parts.push(encoder.add(ndjson.subarray(at, at + chunkBytes)));
  }
  return Buffer.concat([...parts, encoder.finish()]);
}

function readBack(file: string, sql: string): Promise<unknown[][]> {
  return duckdb(sql.replace('FILE', `read_parquet('${file}')`));
}

const CELLS = fc.record({
  day: fc
    .integer({ min: -25_000, max: 80_000 })
    .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10)),
  name: fc.option(fc.string({ unit: 'grapheme', minLength: 1 }), { nil: undefined }),
  price: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { nil: undefined }),
  count: fc.option(fc.integer({ min: 0 }), { nil: undefined }),
  stale: fc.option(fc.boolean(), { nil: undefined }),
  at: fc.option(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }), { nil: undefined }),
});

test('DuckDB reads back every value that was encoded, nulls and negative numbers included', async () => {
  const folder = newFolder();
  const property = fc.asyncProperty(
    fc.array(CELLS),
    fc.integer({ min: 1, max: 5_000 }),
    async (records, chunkBytes) => {
      const rows = records.map(({ day, name, price, count, stale, at }) => [
        day,
        name,
        price === undefined ? undefined : JSON.stringify(price),
        count?.toString(),
        stale?.toString(),
        at?.toISOString(),
      ]);
      const file = join(folder, `${crypto.randomUUID()}.parquet`);
      await Bun.write(file, encode(rows, chunkBytes));
      const found = await readBack(
        file,
        'SELECT day::VARCHAR, name, price, count, stale, epoch_ms("at") FROM FILE',
      );
      expect(found).toEqual(
        records.map(({ day, name, price, count, stale, at }) => [
          day,
          name ?? null,
          price === undefined ? null : price + 0, // JSON has no -0
          count?.toString() ?? null,
          stale ?? null,
          at?.getTime().toString() ?? null,
        ]),
      );
    },
  );
  await fc.assert(property, { numRuns: 40 });
});

test('a long table has several row groups, real types, and strings in dictionaries', async () => {
  const rows = Array.from(
    { length: 120_000 },
    (_, i): FlatRow => ['2024-05-14', `S${i % 7}`, String(i / 8), '1', 'true', undefined],
  );
  const file = join(newFolder(), 'long.parquet');
  await Bun.write(file, encode(rows, 32 * 1024));
  expect(await readBack(file, 'SELECT count(*)::INTEGER, sum(price) FROM FILE')).toEqual([
    [120_000, 899_992_500],
  ]);
  const types = await readBack(file, 'SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM FILE)');
  expect(Object.fromEntries(types as [string, string][])).toEqual({
    day: 'DATE',
    name: 'VARCHAR',
    price: 'DOUBLE',
    count: 'BIGINT',
    stale: 'BOOLEAN',
    at: 'TIMESTAMP WITH TIME ZONE',
  });
  const groups = await readBack(
    file,
    `SELECT row_group_num_rows::INTEGER FROM parquet_metadata('${file}') WHERE path_in_schema = 'name' AND encodings LIKE '%RLE_DICTIONARY%'`,
  );
  expect(groups.flat()).toEqual([50_000, 50_000, 20_000]);
});

test('a table without rows is a valid file', async () => {
  const file = join(newFolder(), 'empty.parquet');
  await Bun.write(file, encode([], 1));
  expect(await readBack(file, 'SELECT count(*)::INTEGER, count(DISTINCT name)::INTEGER FROM FILE')).toEqual([
    [0, 0],
  ]);
});
