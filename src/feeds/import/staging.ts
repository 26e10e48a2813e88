import { Database, type Statement } from 'bun:sqlite';
import type { NewBar } from '../../ledger/prices/bars.ts';
import { type Ohlc, sameOhlc } from '../../market/bar.ts';
import { type Day, printDay } from '../../market/day.ts';
import { printOhlc } from '../formats/ohlc.ts';

/** A remark about a line of a file. */
export interface LineRemark {
  line: number;
  reason: string;
}

/** Rows inserted per transaction. */
const ROWS_PER_TRANSACTION = 5_000;
/** A batch ends with the symbol that fills it. A symbol has at most one bar per calendar day. */
const BATCH_BARS = 20_000;
const CACHE_KIB = 16 * 1024;

/** A bar and its line in the file. */
export interface StagedBar extends NewBar {
  line: number;
}

type StagedRow = [
  symbol: number,
  day: Day,
  line: number,
  open: number,
  high: number,
  low: number,
  close: number,
];

/**
 * Holds the bars of a file in a temporary SQLite file, to sort them by symbol and day and to resolve repeated days. Memory use
 * does not depend on the size or the order of the file.
 */
export class Staging {
  readonly #db: Database;
  readonly #insert: Statement;
  #pending: StagedRow[] = [];
  rows = 0;

  constructor() {
    // SQLite deletes the name of a temporary file as soon as it is open, so that nothing is left if the program is killed.
    this.#db = new Database(':memory:');
    this.#db.run('PRAGMA temp_store = FILE');
    // The file is useless after a crash, so it needs no journal and no flushes.
    this.#db.run('PRAGMA temp.journal_mode = OFF');
    this.#db.run('PRAGMA temp.synchronous = OFF');
    this.#db.run(`PRAGMA temp.cache_size = -${CACHE_KIB}`);
    this.#db.run(
      'CREATE TEMP TABLE staged (symbol INT, day INT, line INT, open REAL, high REAL, low REAL, close REAL)',
    );
    this.#insert = this.#db.prepare('INSERT INTO staged VALUES (?, ?, ?, ?, ?, ?, ?)');
  }

  add(symbol: number, day: Day, line: number, prices: readonly number[]): void {
    const [open, high = open, low = open, close = open] = prices as [number, ...number[]];
    this.#pending.push([symbol, day, line, open, high, low, close]);
    this.rows++;
    if (this.#pending.length >= ROWS_PER_TRANSACTION) this.#flush();
  }

  /** Empties the table. */
  clear(): void {
    this.#pending = [];
    this.rows = 0;
    this.#db.run('DELETE FROM staged');
  }

  /**
   * The bars sorted by symbol and day, in batches of whole symbols. `ids` maps the symbols' numbers to their ids. A day that
   * appears twice with the same prices counts once; with different prices neither is used, and `onConflict` is called for both.
   */
  *batches(ids: readonly number[], onConflict: (remark: LineRemark) => void): Generator<StagedBar[]> {
    this.#flush();
    const rows = this.#db
      .query('SELECT symbol, day, open, high, low, close, line FROM staged ORDER BY symbol, day, line')
      .iterate() as IterableIterator<Staged>;
    let batch: StagedBar[] = [];
    let last: Staged | undefined;
    let isDisputed = false;
    const addLast = () => {
      if (last && !isDisputed) batch.push(barOf(last, ids));
    };
    for (const row of rows) {
      if (last && row.symbol === last.symbol && row.day === last.day) {
        if (sameOhlc(last, row)) continue;
        const both = `${printOhlc(last)} (line ${last.line}) and ${printOhlc(row)} (line ${row.line})`;
        const reason = `${printDay(row.day)} has two prices, ${both}; neither is used`;
        if (!isDisputed) onConflict({ line: last.line, reason });
        onConflict({ line: row.line, reason });
        isDisputed = true;
        continue;
      }
      addLast();
      if (batch.length >= BATCH_BARS && row.symbol !== last?.symbol) {
        yield batch;
        batch = [];
      }
      last = row;
      isDisputed = false;
    }
    addLast();
    if (batch.length > 0) yield batch;
  }

  [Symbol.dispose](): void {
    this.#insert.finalize();
    this.#db.close();
  }

  #flush(): void {
    const rows = this.#pending;
    if (rows.length === 0) return;
    this.#pending = [];
    this.#db.transaction(() => {
      for (const row of rows) this.#insert.run(...row);
    })();
  }
}

interface Staged extends Ohlc {
  symbol: number;
  day: Day;
  line: number;
}

function barOf({ symbol, day, line, open, high, low, close }: Staged, ids: readonly number[]): StagedBar {
  return { symbolId: ids[symbol]!, day, open, high, low, close, line };
}
