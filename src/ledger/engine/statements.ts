import { BoundedCache, textBytes } from '../../runtime/bounded-cache.ts';
import type { Engine } from './engine.ts';
import type { Cell, RowValues, Sql } from './rows.ts';

/** Sorts by code unit. ORDER BY depends on the database's collation: an English one puts "XAU_" before "XAUA". */
export function sortBy<T>(items: T[], key: (item: T) => string): T[] {
  return items.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Small, so that other writers do not wait long during a bulk import. */
export const ROWS_PER_TRANSACTION = 2_000;

// SQLite allows 32,766 parameters per statement, PostgreSQL 65,535.
const PARAMETERS_MAX = 30_000;

/** Below this, the round trips of a bulk load cost more than it saves. */
const LOAD_FROM_ROWS = 50;

/** Inserts rows by bulk load if the engine has one, otherwise with as few statements as the parameter limit allows. */
export async function insertRows(
  engine: Engine,
  tx: Sql,
  into: string,
  rows: readonly RowValues[],
  onConflict = '',
): Promise<void> {
  if (engine.load && onConflict === '' && rows.length >= LOAD_FROM_ROWS) return engine.load(tx, into, rows);
  const width = rows[0]?.length ?? 0;
  const perStatement = Math.floor(PARAMETERS_MAX / Math.max(width, 1));
  for (let from = 0; from < rows.length; from += perStatement) {
    const chunk = rows.slice(from, from + perStatement);
    const values = placeholders(engine, width, chunk.length);
    await tx.unsafe(`INSERT INTO ${into} VALUES ${values} ${onConflict}`, flatten(chunk, width));
  }
}

/**
 * Inserts rows that share the values of some columns. Without a bulk load, shared values are sent once: SQLite binds six
 * parameters per bar instead of ten, which makes an import a fifth faster.
 */
export async function insertWithShared(
  engine: Engine,
  tx: Sql,
  table: string,
  columns: readonly string[],
  rows: readonly RowValues[],
  common: Readonly<Record<string, string | number | null>>,
): Promise<void> {
  if (rows.length === 0) return;
  const into = `${table} (${[...columns, ...Object.keys(common)].join(', ')})`;
  const shared = Object.values(common);
  if (engine.load)
    return insertRows(
      engine,
      tx,
      into,
      rows.map((row) => [...row, ...shared]),
    );
  const own = columns.map((_, i) => `column${i + 1}`).join(', ');
  const values = placeholders(engine, columns.length, rows.length);
  const all = flatten(rows, columns.length);
  await tx.unsafe(
    `INSERT INTO ${into} SELECT ${own}, ${shared.map(() => '?').join(', ')} FROM (VALUES ${values})`,
    [...shared, ...all],
  );
}

/**
 * Repeats the last row up to a round number. The text of a statement depends on its number of rows, and both engines cache
 * statements by text. Only for statements that may read a row more than once.
 */
export function padRows<T>(rows: readonly T[]): readonly T[] {
  const { length } = rows;
  const wanted =
    length > ROWS_STEP ? Math.ceil(length / ROWS_STEP) * ROWS_STEP : 2 ** Math.ceil(Math.log2(length));
  return length === 0 || wanted === length
    ? rows
    : [...rows, ...new Array<T>(wanted - length).fill(rows.at(-1)!)];
}

/** Smaller numbers of rows are rounded to a power of two. */
const ROWS_STEP = 256;

/** A list of `count` placeholders, starting with number `first`: `$2,$3,$4`. */
export function listOf(engine: Engine, count: number, first = 1): string {
  return Array.from({ length: count }, (_, i) => engine.placeholder(first + i)).join(',');
}

/** `flat()` takes four times as long, which is noticeable in an import. */
function flatten(rows: readonly RowValues[], width: number): (string | number | null)[] {
  const values = new Array<string | number | null>(rows.length * width);
  let at = 0;
  for (const row of rows) for (let i = 0; i < width; i++) values[at++] = row[i]!;
  return values;
}

// A bulk write needs the same texts of tens of kilobytes hundreds of times.
const cache = new BoundedCache<string, string>({ bytesMax: 4 * 1024 * 1024 });

/** The placeholders of `count` rows: `(?,?),(?,?)`. */
export function placeholders(engine: Engine, width: number, count: number): string {
  const key = `${engine.name} ${width} ${count}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  let n = 0;
  const row = () => `(${Array.from({ length: width }, () => engine.placeholder(++n)).join(',')})`;
  const text = Array.from({ length: count }, row).join(',');
  cache.set(key, text, textBytes(text));
  return text;
}

/** Adds a number to a statement and returns its placeholder. */
export type Value = (one: number) => string;

/** Runs a statement on numbers. Its placeholders are numbered in the order of its text. */
export async function queryNumbers(
  engine: Engine,
  write: (value: Value, list: (ones: readonly number[]) => string) => string,
): Promise<Cell[][]> {
  const values: number[] = [];
  const value = (one: number) => engine.placeholder(values.push(one));
  const text = write(value, (ones) => ones.map(value).join(', '));
  return engine.read.unsafe(text, values).values();
}

/** PostgreSQL assumes that a bare placeholder in VALUES is text. */
export function integers(ones: readonly number[], value: Value): string {
  return ones.map((one) => `CAST(${value(one)} AS BIGINT)`).join(', ');
}
