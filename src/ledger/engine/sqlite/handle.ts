import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite';
import { Unavailable } from '../errors.ts';
import type { Cell, Row, Sql, SqlQuery } from '../rows.ts';

/** Bulk writes use many texts; the least recently used statement is then finalized. */
const STATEMENTS_MAX = 100;

/**
 * A connection to an SQLite file. It keeps its prepared statements: Bun's `SQL` prepares a statement for every call, which
 * takes longer than to run a small one.
 */
export class SqliteHandle {
  readonly sql: Sql;
  readonly #database: Database;
  /** By text, the least recently used first. */
  readonly #statements = new Map<string, Statement>();
  #isClosed = false;

  constructor(path: string, isReadOnly = false) {
    this.#database = new Database(path, isReadOnly ? { readonly: true } : { readwrite: true, create: true });
    const query = (text: string, values: readonly unknown[]) =>
      new SqliteQuery(() => this.#prepare(text), values) as unknown as SqlQuery;
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

/** A statement that runs when it is awaited. */
class SqliteQuery implements PromiseLike<Row[] | Cell[][]> {
  readonly #prepare: () => Statement;
  readonly #values: readonly unknown[];
  #asArrays = false;
  #result: Promise<Row[] | Cell[][]> | undefined;

  constructor(prepare: () => Statement, values: readonly unknown[]) {
    this.#prepare = prepare;
    this.#values = values;
  }

  /** Rows as arrays instead of objects. */
  values(): this {
    this.#asArrays = true;
    return this;
  }

  /** Runs the statement now instead of when it is awaited. */
  execute(): this {
    this.#result ??= this.#run();
    this.#result.catch(() => {}); // the error is reported to the caller that awaits it
    return this;
  }

  // biome-ignore lint/suspicious/noThenProperty: a query is awaited
  then<A = Row[] | Cell[][], B = never>(
    onResult?: ((rows: Row[] | Cell[][]) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#result ??= this.#run();
    return this.#result.then(onResult, onError);
  }

  catch<B>(onError: (error: unknown) => B | PromiseLike<B>): Promise<Row[] | Cell[][] | B> {
    return this.then(undefined, onError);
  }

  async #run(): Promise<Row[] | Cell[][]> {
    const statement = this.#prepare();
    const values = this.#values.map((value) => value ?? null) as SQLQueryBindings[];
    return (this.#asArrays ? statement.values(...values) : statement.all(...values)) as Row[] | Cell[][];
  }
}
