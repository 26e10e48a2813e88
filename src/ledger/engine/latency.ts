import type { SQL } from 'bun';
import { HISTOGRAM_BYTES, Histogram } from '../../runtime/metrics/histogram.ts';
import { DeferredQuery, rowsOf } from './deferred-query.ts';
import type { Engine } from './engine.ts';
import type { Sql } from './rows.ts';

/** A read statement; a transaction including its wait for the lock; the sync of the log to disk. */
export const LEDGER_OPERATIONS = ['read', 'write', 'flush'] as const;
export type LedgerOperation = (typeof LEDGER_OPERATIONS)[number];

/** Latency of one thread's calls to the ledger. Other threads read it through shared memory. */
export class LedgerLatency {
  readonly memory: SharedArrayBuffer;
  readonly histograms: Readonly<Record<LedgerOperation, Histogram>>;

  constructor(memory = new SharedArrayBuffer(LEDGER_OPERATIONS.length * HISTOGRAM_BYTES)) {
    this.memory = memory;
    const [read, write, flush] = LEDGER_OPERATIONS.map((_, i) => new Histogram(memory, i * HISTOGRAM_BYTES));
    this.histograms = { read: read!, write: write!, flush: flush! };
  }

  /** Includes failed calls: timeouts are the slowest. */
  async time<T>(operation: LedgerOperation, call: () => PromiseLike<T>): Promise<T> {
    const start = performance.now();
    try {
      return await call();
    } finally {
      this.histograms[operation].add(performance.now() - start);
    }
  }
}

/** Wraps an engine and times its calls. */
export function withLatency(engine: Engine, latency: LedgerLatency): Engine {
  const read = timedReads(engine.read, latency);
  return {
    ...engine,
    read,
    forRows: (handle, ...statement) =>
      handle === read
        ? latency.time('read', () => engine.forRows(engine.read, ...statement))
        : engine.forRows(handle, ...statement),
    write: (work, isMigration) => latency.time('write', () => engine.write(work, isMigration)),
    writePrices: (work) => latency.time('write', () => engine.writePrices(work)),
    flush: () => latency.time('flush', () => engine.flush()),
  };
}

/** Wraps the two call forms that the ledger uses. */
function timedReads(read: Sql, latency: LedgerLatency): Sql {
  const timed = (query: unknown) =>
    new DeferredQuery((asArrays) =>
      latency.time('read', () => rowsOf(query as SQL.Query<unknown>, asArrays)),
    );
  const ask = (text: TemplateStringsArray, ...values: readonly unknown[]) => timed(read(text, ...values));
  const unsafe = (text: string, values?: readonly unknown[]) => timed(read.unsafe(text, values));
  return Object.assign(ask, { unsafe }) as unknown as Sql;
}
