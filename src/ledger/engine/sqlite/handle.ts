import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite';
import { yieldToRequests } from '../../../runtime/yield.ts';
import { DeferredQuery } from '../deferred-query.ts';
import type { ColumnTypes, RowStatement } from '../engine.ts';
import { Unavailable } from '../errors.ts';
import type { Cell, Row, RowValues, Sql, SqlQuery } from '../rows.ts';

/** Bulk writes use many texts; the least recently used statement is then finalized. */
const STATEMENTS_MAX = 100;

/**
 * The share of the thread's time that statements for many rows get at least. On an overloaded machine a turn of the event loop
 * takes long, and with a fixed time per turn a report of counts took seconds: the ledger seemed unreachable.
 */
const TIME_SHARE = 1 / 8;
/** A turn of the event loop that took longer was an exception, such as a suspended machine. */
const SHARED_MS_MAX = 200;

export interface HandleOptions {
  isReadOnly?: boolean;
  /** How long statements for many rows may keep the event loop from turning, in ms; without it, as long as they take. */
  msPerTurn?: number | undefined;
  /** In ms, so that tests can choose the time. */
  now?: () => number;
}

/**
 * A connection to an SQLite file. It keeps its prepared statements: Bun's `SQL` prepares a statement for every call, which
 * takes longer than to run a small one.
 */
export class SqliteHandle {
  readonly sql: Sql;
  readonly #database: Database;
  /** By text, the least recently used first. */
  readonly #statements = new Map<string, Statement>();
  /** A lookup of one row takes less time than to build its text. */
  readonly #rowTexts = new WeakMap<RowStatement, string>();
  readonly #msPerTurn: number | undefined;
  readonly #now: () => number;
  /** When the time of the current turn of the event loop is up; undefined if none of it is used yet. */
  #turnEndsAt: number | undefined;
  /** How long a statement has waited for this turn, in ms. */
  #waitedMs = 0;
  #isClosed = false;

  constructor(
    path: string,
    { isReadOnly = false, msPerTurn, now = () => performance.now() }: HandleOptions = {},
  ) {
    this.#msPerTurn = msPerTurn;
    this.#now = now;
    this.#database = new Database(path, isReadOnly ? { readonly: true } : { readwrite: true, create: true });
    const query = (text: string, values: readonly unknown[]) =>
      new DeferredQuery((asArrays) => this.#run(text, values, asArrays)) as unknown as SqlQuery;
    const tagged = (text: TemplateStringsArray, ...values: readonly unknown[]) =>
      query(text.join('?'), values);
    const unsafe = (text: string, values: readonly unknown[] = []) => query(text, values);
    this.sql = Object.assign(tagged, { unsafe });
  }

  close(): void {
    this.#isClosed = true;
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
    this.#database.close();
  }

  /** Runs a statement once for each row of values, for a limited time in each turn of the event loop. Returns the rows of all runs. */
  async forRows(columns: ColumnTypes, rows: readonly RowValues[], text: RowStatement): Promise<Cell[][]> {
    const statement = this.#prepare(this.#rowTexts.getOrInsertComputed(text, () => textFor(columns, text)));
    const found: Cell[][] = [];
    for (let i = 0; i < rows.length; i++) {
      if (this.#isTurnOver()) await this.#nextTurn();
      for (const one of statement.values(...(rows[i] as SQLQueryBindings[])) as Cell[][]) found.push(one);
    }
    return found;
  }

  /** Whether statements for many rows have used up their time in this turn of the event loop. */
  #isTurnOver(): boolean {
    if (this.#msPerTurn === undefined) return false;
    const now = this.#now();
    if (this.#turnEndsAt === undefined) {
      this.#turnEndsAt =
        now + Math.max(this.#msPerTurn, TIME_SHARE * Math.min(this.#waitedMs, SHARED_MS_MAX));
      setImmediate(() => {
        this.#turnEndsAt = undefined;
        this.#waitedMs = 0;
      });
    }
    return now > this.#turnEndsAt;
  }

  async #nextTurn(): Promise<void> {
    const before = this.#now();
    await yieldToRequests();
    this.#waitedMs = this.#now() - before;
  }

  async #run(text: string, values: readonly unknown[], asArrays: boolean): Promise<Row[] | Cell[][]> {
    const statement = this.#prepare(text);
    const bound = values.map((value) => value ?? null) as SQLQueryBindings[];
    return (asArrays ? statement.values(...bound) : statement.all(...bound)) as Row[] | Cell[][];
  }

  #prepare(text: string): Statement {
    if (this.#isClosed) throw new Unavailable('its ledger cannot be reached');
    let statement = this.#statements.get(text);
    if (statement) this.#statements.delete(text);
    else statement = this.#database.prepare(text);
    this.#statements.set(text, statement);
    if (this.#statements.size > STATEMENTS_MAX) this.#finalizeOldest();
    return statement;
  }

  #finalizeOldest(): void {
    const [text, statement] = this.#statements.entries().next().value!;
    this.#statements.delete(text);
    statement.finalize();
  }
}

/** The text of a statement that runs once for each row of values. */
function textFor(columns: ColumnTypes, text: RowStatement): string {
  const names = Object.keys(columns);
  const cell = (column: string) => `?${names.indexOf(column) + 1}`;
  const from = (one: string) => `FROM ${one}`;
  return text({ cell, from: '', fromWith: from, fromEach: from, table: '(SELECT 1) AS n' });
}
