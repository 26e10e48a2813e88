import type { Engine } from './engine.ts';
import type { RowValues, Sql } from './rows.ts';

/** Sorts by code unit. ORDER BY would do it the database's way: a PostgreSQL in English puts "XAU_" before "XAUA". */
export function sortBy<T>(items: T[], key: (item: T) => string): T[] {
  return items.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Small, so that nobody waits long behind a bulk import. */
export const ROWS_PER_TRANSACTION = 2_000;

// SQLite takes 32,766 parameters and PostgreSQL 65,535.
const PARAMETERS_MAX = 30_000;

/** From so many rows on, the engine's own way of loading is worth its round trips. */
const LOAD_FROM_ROWS = 50;

/** Inserts rows the fastest way there is: the engine's own, or as few statements as its limit on parameters allows. */
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
 * The same, for rows that have some columns in common. Where the engine has no way of its own, those are sent once: SQLite
 * reads and binds six parameters of a bar in place of ten, which makes an import a fifth faster.
 */
export async function insertAlike(
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

/** So many placeholders from the `first` on: `$2,$3,$4`. */
export function listOf(engine: Engine, count: number, first = 1): string {
  return Array.from({ length: count }, (_, i) => engine.placeholder(first + i)).join(',');
}

/** `flat()` takes four times as long, which shows in an import. */
function flatten(rows: readonly RowValues[], width: number): (string | number | null)[] {
  const values = new Array<string | number | null>(rows.length * width);
  let at = 0;
  for (const row of rows) for (let i = 0; i < width; i++) values[at++] = row[i]!;
  return values;
}

// A bulk write makes the same texts, of tens of kilobytes, hundreds of times over; the last few are kept.
const kept = new Map<string, string>();
const TEXTS_KEPT = 20;

/** The placeholders of so many rows: `(?,?),(?,?)`. */
export function placeholders(engine: Engine, width: number, count: number): string {
  const key = `${engine.name} ${width} ${count}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  let n = 0;
  const row = () => `(${Array.from({ length: width }, () => engine.placeholder(++n)).join(',')})`;
  const text = Array.from({ length: count }, row).join(',');
  if (kept.size >= TEXTS_KEPT) kept.delete(kept.keys().next().value!);
  kept.set(key, text);
  return text;
}
