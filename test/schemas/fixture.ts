import { Database } from 'bun:sqlite';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { ENGINES, type EngineName, newLedgerUrl } from '../support/ledger.ts';

/** The committed dump of a sample ledger, as the program of that schema version left it on that engine. */
export function fixturePath(version: number, engine: EngineName): string {
  return join(import.meta.dir, 'fixtures', `schema-${version}.${engine}.sql`);
}

/** What to do about the schema versions without a fixture; undefined when there are none. */
export function missingFixtureMessage(schemaVersion: number): string | undefined {
  const versions = Array.from({ length: schemaVersion }, (_, i) => i + 1);
  const missing = versions.filter((version) =>
    ENGINES.some((engine) => !existsSync(fixturePath(version, engine))),
  );
  if (missing.length === 0) return undefined;
  return missing.at(-1) === schemaVersion && missing.length === 1
    ? `schema version ${schemaVersion} has no fixture: run "npx bun scripts/schema-fixture.ts" and commit what it writes`
    : `schema versions ${missing.join(', ')} have no fixture: run scripts/schema-fixture.ts in the commit that added each`;
}

/** Loads a fixture into a new database and returns its URL. */
export async function loadFixture(version: number, engine: EngineName): Promise<string> {
  const script = readFileSync(fixturePath(version, engine), 'utf8');
  const url = await newLedgerUrl(engine);
  if (engine === 'sqlite') {
    const database = new Database(url);
    database.run(script);
    database.close();
  } else {
    const sql = new SQL(url, { max: 1 });
    await sql.unsafe(script).simple();
    await sql.close();
  }
  return url;
}

/**
 * Prepares an empty database so that `dump` can read its schema back as statements. SQLite stores them; PostgreSQL
 * does not, so an event trigger records each one.
 */
export async function recordStatements(url: string, engine: EngineName): Promise<void> {
  if (engine === 'sqlite') return;
  const sql = new SQL(url, { max: 1 });
  await sql
    .unsafe(`
      CREATE SCHEMA recorder;
      CREATE TABLE recorder.statement (id SERIAL PRIMARY KEY, text TEXT NOT NULL);
      CREATE FUNCTION recorder.record() RETURNS event_trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO recorder.statement (text) VALUES (current_query()); END $$;
      CREATE EVENT TRIGGER record_statement ON ddl_command_end EXECUTE FUNCTION recorder.record()`)
    .simple();
  await sql.close();
}

/** The database as one SQL script: its schema, then its rows. */
export async function dump(url: string, engine: EngineName): Promise<string> {
  const sql = new SQL(engine === 'sqlite' ? `sqlite://${url}` : url, { max: 1 });
  const statements = await schemaOf(sql, engine);
  const lines = statements.map((statement) => `${statement.replace(/\n\s+/g, '\n  ').trim()};`);
  for (const table of tablesOf(statements)) {
    const rows: Row[] = await sql.unsafe(`SELECT * FROM ${table} ORDER BY 1`);
    for (const row of rows) lines.push(insertOf(table, row));
  }
  await sql.close();
  return `${lines.join('\n')}\n`;
}

type Row = Readonly<Record<string, string | number | bigint | null>>;

async function schemaOf(sql: SQL, engine: EngineName): Promise<string[]> {
  const rows: { text: string }[] =
    engine === 'sqlite'
      ? await sql`SELECT sql AS text FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid`
      : await sql`SELECT text FROM recorder.statement ORDER BY id`;
  return rows.map((row) => row.text);
}

/** In order of creation, so that a row is inserted after the rows it references. */
function tablesOf(statements: readonly string[]): string[] {
  return statements.flatMap(
    (statement) => /^\s*CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)/.exec(statement)?.[1] ?? [],
  );
}

function insertOf(table: string, row: Row): string {
  return `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).map(literalOf).join(', ')});`;
}

function literalOf(value: Row[string]): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}
