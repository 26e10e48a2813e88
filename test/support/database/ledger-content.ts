import type { Engine } from '../../../src/ledger/engine/engine.ts';

/** Every table that exists in the database, whether or not the program knows it. */
export async function tableNames({ name, read }: Engine): Promise<string[]> {
  const rows =
    name === 'sqlite'
      ? await read`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
      : await read`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`;
  return rows.map((row) => String(row.name)).sort();
}

/** All rows of all tables as text, sorted, without the epoch, which differs between ledgers. */
export async function contentOf(engine: Engine): Promise<Record<string, string[]>> {
  const content: Record<string, string[]> = {};
  for (const table of await tableNames(engine)) {
    const rows = await engine.read.unsafe(`SELECT * FROM ${table}`);
    content[table] = rows
      .filter((row) => !(table === 'meta' && row.name === 'epoch'))
      .map((row) =>
        JSON.stringify(
          Object.entries(row)
            .map(([name, cell]) => [name, textOf(cell)])
            .sort(),
        ),
      )
      .sort();
  }
  return content;
}

/** PostgreSQL returns BIGINT as text. */
function textOf(cell: unknown): string | null {
  return cell === null ? null : String(cell);
}
