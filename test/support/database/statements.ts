import type { ColumnTypes, Engine, RowStatement } from '../../../src/ledger/engine/engine.ts';
import type { RowValues, Sql } from '../../../src/ledger/engine/rows.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';

export interface Statement {
  text: string;
  /** Of its first use. */
  values: unknown[];
  /** How often it was executed. */
  uses: number;
}

/** Runs some work, and returns each distinct statement it executed. */
export async function statementsOf(ledger: Ledger, work: () => Promise<unknown>): Promise<Statement[]> {
  const engine = ledger.engine as { -readonly [K in keyof Engine]: Engine[K] };
  const { read, write, writePrices, forRows, placeholder } = engine;
  const seen = new Map<string, Statement>();
  const note = (text: string, values: unknown[]) => {
    seen.getOrInsertComputed(text, () => ({ text, values, uses: 0 })).uses++;
  };
  // SQLite runs the statement for one row after the other, in one call. `values` are those of the first.
  const noteRows = (columns: ColumnTypes, rows: readonly RowValues[], text: RowStatement) => {
    const names = Object.keys(columns);
    const cell = (column: string) => `?${names.indexOf(column) + 1}`;
    const from = (table: string) => `FROM ${table}`;
    const [first] = rows;
    if (first)
      note(text({ cell, from: '', fromWith: from, fromEach: from, table: '(SELECT 1) AS n' }), [...first]);
  };
  const known = new WeakSet<Sql>();
  const watched = (handle: Sql): Sql => {
    if (known.has(handle)) return handle; // on PostgreSQL, `writePrices` calls `write`
    const ask = (strings: TemplateStringsArray, ...values: unknown[]) => {
      note(
        strings.reduce((text, part, i) => `${text}${placeholder(i)}${part}`),
        values,
      );
      return handle(strings, ...values);
    };
    const unsafe = (text: string, values: unknown[] = []) => {
      note(text, values);
      return handle.unsafe(text, values);
    };
    const wrapped = Object.assign(ask, { unsafe }) as unknown as Sql;
    known.add(wrapped);
    return wrapped;
  };
  engine.read = watched(read);
  engine.forRows = (handle, columns, rows, text) => {
    if (engine.name === 'sqlite') noteRows(columns, rows, text);
    return forRows(engine.name === 'sqlite' && handle === engine.read ? read : handle, columns, rows, text);
  };
  engine.write = (job, isMigration) => write((tx) => job(watched(tx)), isMigration);
  engine.writePrices = (job) => writePrices((tx) => job(watched(tx)));
  try {
    await work();
  } finally {
    Object.assign(engine, { read, write, writePrices, forRows });
  }
  return [...seen.values()];
}

/** The relevant part of a PostgreSQL query plan. */
interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanNode[];
}

/**
 * How a statement reads a table: 'by index', or the engine's description of a full scan. PostgreSQL also runs a SELECT and
 * reports the number of rows it read, and of pairs of rows that a join rejected.
 */
export async function accessTo(
  ledger: Ledger,
  table: string,
  statement: Statement,
): Promise<{ scans: string[]; rows: number }> {
  const { text, values } = statement;
  const { name, read } = ledger.engine;
  if (name === 'sqlite') {
    const details = await sqlitePlan(ledger, statement);
    // A table is named by its alias, which is `t` throughout the ledger.
    return { scans: details.filter((one) => new RegExp(`^SCAN (${table}|t)\\b`).test(one)), rows: 0 };
  }
  const isRead = /^\s*(SELECT|WITH)/.test(text);
  const [row] = await read
    .unsafe(`EXPLAIN (${isRead ? 'ANALYZE, ' : ''}FORMAT JSON) ${text}`, values)
    .values();
  const [plan] = row!;
  const json = typeof plan === 'string' ? JSON.parse(plan) : plan;
  const all = flatten(json[0].Plan);
  const nodes = all.filter((node) => node['Relation Name'] === table);
  const looked = (node: PlanNode) =>
    ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1);
  const rejected = (node: PlanNode) =>
    (node['Rows Removed by Join Filter'] ?? 0) * (node['Actual Loops'] ?? 1);
  return {
    scans: nodes.map((node) => node['Node Type']).filter((type) => type === 'Seq Scan'),
    rows:
      nodes.reduce((sum, node) => sum + looked(node), 0) + all.reduce((sum, node) => sum + rejected(node), 0),
  };
}

/** The steps of a query plan, outer loops first. */
export async function sqlitePlan(ledger: Ledger, { text, values }: Statement): Promise<string[]> {
  const plan = await ledger.engine.read.unsafe(`EXPLAIN QUERY PLAN ${text}`, values);
  return plan.map(({ detail }) => String(detail));
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}
