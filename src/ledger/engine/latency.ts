import type { SQL } from 'bun';
import { HISTOGRAM_BYTES, Histogram } from '../../runtime/metrics/histogram.ts';
import { DeferredQuery } from './deferred-query.ts';
import type { Engine } from './engine.ts';
import type { Sql } from './rows.ts';

/** A statement that reads; a transaction, its wait for the lock included; the sync of the log to the disk. */
export const LEDGER_OPERATIONS = ['read', 'write', 'flush'] as const;
export type LedgerOperation = (typeof LEDGER_OPERATIONS)[number];

/** How long one thread's calls to the ledger take. Other threads can read it through the same memory. */
export class LedgerLatency {
  readonly memory: SharedArrayBuffer;
  readonly histograms: Readonly<Record<LedgerOperation, Histogram>>;

  constructor(memory = new SharedArrayBuffer(LEDGER_OPERATIONS.length * HISTOGRAM_BYTES)) {
    this.memory = memory;
    const [read, write, flush] = LEDGER_OPERATIONS.map((_, i) => new Histogram(memory, i * HISTOGRAM_BYTES));
    this.histograms = { read: read!, write: write!, flush: flush! };
  }

  /** Failed calls count too: a call that timed out is the slowest of all. */
  async time<T>(operation: LedgerOperation, call: () => PromiseLike<T>): Promise<T> {
    const start = performance.now();
    try {
      return await call();
    } finally {
      this.histograms[operation].add(performance.now() - start);
    }
  }
}

/** The same engine, whose calls are timed. */
export function withLatency(engine: Engine, latency: LedgerLatency): Engine {
  return {
    ...engine,
    read: timedReads(engine.read, latency),
    write: (work, isMigration) => latency.time('write', () => engine.write(work, isMigration)),
    writePrices: (work) => latency.time('write', () => engine.writePrices(work)),
    flush: () => latency.time('flush', () => engine.flush()),
  };
}

/** Wraps the template and `unsafe`, which is all the ledger uses of a handle. */
function timedReads(read: Sql, latency: LedgerLatency): Sql {
  const timed = (query: unknown) =>
    new DeferredQuery((finish) => latency.time('read', () => finish(query as SQL.Query<unknown>)));
  const ask = (text: TemplateStringsArray, ...values: readonly unknown[]) => timed(read(text, ...values));
  const unsafe = (text: string, values?: readonly unknown[]) => timed(read.unsafe(text, values));
  return Object.assign(ask, { unsafe }) as unknown as Sql;
}
