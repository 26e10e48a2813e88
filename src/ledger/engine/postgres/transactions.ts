import { isFull, isStalePlan, sqlStateOf } from '../errors.ts';
import type { Sql } from '../rows.ts';
import type { Connections } from './connections.ts';
import { hasMoved } from './hosts/server.ts';

/**
 * Serialization failure, deadlock, and a transaction that was idle for too long because this process did not run: the server
 * has rolled back, and a retry may succeed.
 */
const ROLLED_BACK = new Set(['40001', '40P01', '25P03']);
/** The server has become a standby, and its successor is at the same address. */
const READ_ONLY = '25006';
const ATTEMPTS = 10;

/** Write transactions, retried where that is safe. */
export class Transactions {
  readonly #connections: Connections;
  /** Whether the last write failed for want of disk space. */
  isDiskFull = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** `msMax` replaces the usual time limit. */
  async run<T>(work: (tx: Sql) => Promise<T>, msMax?: number): Promise<T> {
    const { server, writers } = this.#connections;
    for (let attempt = 1; ; attempt++) {
      const { url } = server;
      let hasBegun = false;
      const begin = (tx: Sql) => {
        hasBegun = true;
        return work(tx);
      };
      try {
        const result = await writers.begin(begin, msMax);
        this.isDiskFull = false;
        return result;
      } catch (error) {
        if (isFull(error)) this.isDiskFull = true;
        const state = sqlStateOf(error);
        if (state === READ_ONLY) writers.drop();
        if (attempt === ATTEMPTS) throw error;
        if (ROLLED_BACK.has(state) || isStalePlan(error)) {
          await Bun.sleep(attempt * 5 * Math.random());
          continue;
        }
        // Retry on another server only if nothing was committed for certain: a lost connection does not tell.
        const didNothing = !hasBegun || state === READ_ONLY;
        if (!didNothing || !(await hasMoved(server, url, error))) throw error;
      }
    }
  }
}
