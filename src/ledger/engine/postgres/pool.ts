import type { SQL } from 'bun';
import { DeferredQuery, rowsOf } from '../deferred-query.ts';
import { isStalePlan, outageReason } from '../errors.ts';
import { type Row, type Sql, typed } from '../rows.ts';
import { hasMoved, type Server } from './hosts/server.ts';

export interface PoolOptions {
  connect: () => SQL;
  /** Time limit of a call. When it expires, the connections are dropped. */
  callMsMax: number;
  /** Run first in every transaction; a read is then a transaction of its own. */
  perTransaction: string | undefined;
  server: Server;
}

/**
 * A connection pool that can be replaced while it is in use. A call on a connection that hangs (the peer vanished, a
 * firewall dropped its state) never ends by itself and blocks its slot in the pool. So every call has a time limit; when it
 * expires, all connections are dropped and new ones are opened. Calls in progress on the old ones fail like calls on a lost
 * connection, which their callers handle.
 */
export class PostgresPool {
  readonly #options: PoolOptions;
  #pool: SQL;
  /** For reading: always uses the current connections. */
  readonly read: Sql;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#pool = options.connect();
    // The two call forms that the ledger uses.
    const query = (strings: TemplateStringsArray, ...values: unknown[]) =>
      this.#query((handle) => handle(strings, ...values));
    const unsafe = (...args: Parameters<SQL['unsafe']>) => this.#query((handle) => handle.unsafe(...args));
    this.read = Object.assign(query, { unsafe }) as unknown as Sql;
  }

  async begin<T>(work: (tx: Sql) => Promise<T>, msMax = this.#options.callMsMax): Promise<T> {
    const { perTransaction } = this.#options;
    const pool = this.#pool;
    const timer = setTimeout(() => this.drop(pool), msMax);
    try {
      return await pool.begin(async (tx) => {
        if (perTransaction !== undefined) await tx.unsafe(perTransaction).simple();
        return work(typed(tx));
      });
    } catch (error) {
      if (isStalePlan(error)) this.#renew(pool);
      else if (outageReason(error) !== undefined) void this.#options.server.search();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs a read with the simple protocol: never prepared, outside of any transaction. */
  readUnprepared(text: string): Promise<Row[]> {
    return this.#timed(this.#pool, (pool) => pool.unsafe(text).simple()) as Promise<Row[]>;
  }

  /** A read-only snapshot transaction without a time limit. */
  snapshot<T>(work: (tx: Sql) => Promise<T>): Promise<T> {
    return this.#pool.begin('isolation level repeatable read read only', async (tx) => {
      await tx.unsafe('SET LOCAL statement_timeout = 0');
      await tx.unsafe('SET LOCAL idle_in_transaction_session_timeout = 0');
      return work(typed(tx));
    }) as Promise<T>;
  }

  /** Drops these connections, unless they were already replaced. */
  drop(pool = this.#pool): void {
    this.#replace(pool, 0);
  }

  /** Waits for calls in progress, up to the time limit of a call. */
  close(): Promise<void> {
    return this.#pool.close({ timeout: this.#options.callMsMax / 1_000 });
  }

  /** Replaces the connections, to discard prepared statements. Calls in progress finish on the old ones. */
  #renew(pool: SQL): void {
    this.#replace(pool, this.#options.callMsMax / 1_000);
  }

  #replace(pool: SQL, timeoutSeconds: number): void {
    if (pool !== this.#pool) return;
    this.#pool = this.#options.connect();
    pool.close({ timeout: timeoutSeconds }).catch(() => {}); // a failure means that they are already closed
  }

  #query(make: MakeQuery): DeferredQuery {
    return new DeferredQuery((asArrays) =>
      this.#options.perTransaction === undefined
        ? this.#readWithRetry((pool) => this.#timed(pool, (handle) => rowsOf(make(handle), asArrays)))
        : this.#readWithRetry(() => this.begin(async (tx) => rowsOf(make(tx as unknown as SQL), asArrays))),
    );
  }

  /** Retries a read once if its prepared statement was stale, or if another server has taken over. */
  async #readWithRetry(read: (pool: SQL) => Promise<unknown>): Promise<unknown> {
    const { server } = this.#options;
    const { url } = server;
    const pool = this.#pool;
    try {
      return await read(pool);
    } catch (error) {
      if (isStalePlan(error)) this.#renew(pool);
      else if (!(await hasMoved(server, url, error))) throw error;
      return read(this.#pool);
    }
  }

  async #timed(pool: SQL, read: (pool: SQL) => Promise<unknown>): Promise<unknown> {
    const timer = setTimeout(() => this.drop(pool), this.#options.callMsMax);
    try {
      return await read(pool);
    } finally {
      clearTimeout(timer);
    }
  }
}

type MakeQuery = (handle: SQL) => SQL.Query<unknown>;
