import { asText, type Sql } from './rows.ts';

/** A setting that the service stores about itself. */
export async function readMeta(handle: Sql, name: string): Promise<string | undefined> {
  const [row] = await handle`SELECT value FROM meta WHERE name = ${name}`;
  return row && asText(row.value);
}

/** Stores a setting in an open transaction. */
export async function writeMeta(tx: Sql, name: string, value: string): Promise<void> {
  await tx`INSERT INTO meta (name, value) VALUES (${name}, ${value})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
}
