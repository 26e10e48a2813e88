import { Database } from 'bun:sqlite';
import { schemaStatements } from './migrations.ts';

/** How the values of a column are read and written. */
export type ColumnKind = 'whole' | 'float' | 'text';

export interface LedgerColumn {
  name: string;
  kind: ColumnKind;
}

/** A table of the ledger, the same on both engines. */
export interface LedgerTable {
  name: string;
  columns: readonly LedgerColumn[];
  /** The columns of its primary key, in order. */
  key: readonly string[];
}

/** How the migrations spell the kinds of columns. */
const KINDS: Readonly<Record<string, ColumnKind>> = {
  INTEGER: 'whole',
  BIGINT: 'whole',
  'DOUBLE PRECISION': 'float',
  TEXT: 'text',
};

/**
 * Every table of the ledger, referenced tables before those that refer to them. The list is read from a schema that the
 * migrations build in memory, so a table that a later migration adds is in it.
 */
export function ledgerTables(): LedgerTable[] {
  const schema = new Database(':memory:');
  try {
    for (const statement of schemaStatements('WITHOUT ROWID')) schema.run(statement);
    const names = schema
      .query<{ name: string }, []>(
        `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
      )
      .all();
    return parentsFirst(
      schema,
      names.map(({ name }) => describe(schema, name)),
    );
  } finally {
    schema.close();
  }
}

function describe(schema: Database, name: string): LedgerTable {
  const columns = schema
    .query<{ name: string; type: string; pk: number }, [string]>(
      'SELECT name, type, pk FROM pragma_table_info(?)',
    )
    .all(name);
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  if (key.length === 0) throw new Error(`the table ${name} has no primary key`);
  return {
    name,
    columns: columns.map((column) => ({ name: column.name, kind: kindOf(name, column) })),
    key: key.map((column) => column.name),
  };
}

function kindOf(table: string, { name, type }: { name: string; type: string }): ColumnKind {
  const kind = KINDS[type];
  if (kind) return kind;
  throw new Error(`the column ${table}.${name} has the type ${type}, which cannot be moved between engines`);
}

function parentsFirst(schema: Database, tables: readonly LedgerTable[]): LedgerTable[] {
  const parentsOf = schema.query<{ parent: string }, [string]>(
    'SELECT DISTINCT "table" AS parent FROM pragma_foreign_key_list(?)',
  );
  const ordered = new Set<LedgerTable>();
  const add = (table: LedgerTable) => {
    if (ordered.has(table)) return;
    for (const { parent } of parentsOf.all(table.name)) {
      if (parent !== table.name) add(tables.find(({ name }) => name === parent)!);
    }
    ordered.add(table);
  };
  for (const table of tables) add(table);
  return [...ordered];
}
