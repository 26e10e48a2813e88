import type { SQL } from 'bun';
import { type Sql, typed } from './engine/rows.ts';

/**
 * Connections that may be replaced under their users. A call on a connection that hangs (its peer is gone without a
 * word, a firewall has forgotten it) never ends by itself, and keeps its place in the pool for good. So every call has a
 * time; when it is over, all connections are dropped at once and new ones are made. Calls that were under way on the old
 * ones fail as calls on a lost connection do, and their callers know what to do then.
 */
export class PostgresPool {
  readonly #connect: () => SQL;
  readonly #callMsMax: number;
  #pool: SQL;
  /** For reading: always the connections of this moment. */
  readonly read: Sql;

  constructor(connect: () => SQL, callMsMax: number) {
    this.#connect = connect;
    this.#callMsMax = callMsMax;
    this.#pool = connect();
    // What the ledger uses of a handle: the template and `unsafe`.
    const ask = (strings: TemplateStringsArray, ...values: unknown[]) =>
      this.#timed((pool) => pool(strings, ...values));
    const unsafe = (...args: Parameters<SQL['unsafe']>) => this.#timed((pool) => pool.unsafe(...args));
    this.read = Object.assign(ask, { unsafe }) as unknown as Sql;
  }

  async begin<T>(work: (tx: Sql) => Promise<T>, msMax = this.#callMsMax): Promise<T> {
    const pool = this.#pool;
    const timer = setTimeout(() => this.drop(pool), msMax);
    try {
      return await pool.begin((tx) => work(typed(tx)));
    } finally {
      clearTimeout(timer);
    }
  }

  /** A transaction without a time limit that sees the database as it is now, and cannot write. */
  snapshot<T>(work: (tx: Sql) => Promise<T>): Promise<T> {
    return this.#pool.begin('isolation level repeatable read read only', async (tx) => {
      await tx.unsafe('SET LOCAL statement_timeout = 0');
      await tx.unsafe('SET LOCAL idle_in_transaction_session_timeout = 0');
      return work(typed(tx));
    }) as Promise<T>;
  }

  /** Gives up these connections, unless that was done already. */
  drop(pool = this.#pool): void {
    if (pool !== this.#pool) return;
    this.#pool = this.#connect();
    pool.close({ timeout: 0 }).catch(() => {}); // it has nothing left to close
  }

  /** Waits for what is under way, no longer than that may take. */
  close(): Promise<void> {
    return this.#pool.close({ timeout: this.#callMsMax / 1_000 });
  }

  /** A query is put together in this turn (`.values()` may follow it) and runs from the next one on. */
  #timed(make: (pool: SQL) => SQL.Query<unknown>): SQL.Query<unknown> {
    const pool = this.#pool;
    const query = make(pool);
    queueMicrotask(() => {
      const timer = setTimeout(() => this.drop(pool), this.#callMsMax);
      const stop = () => clearTimeout(timer);
      query.then(stop, stop);
    });
    return query;
  }
}
