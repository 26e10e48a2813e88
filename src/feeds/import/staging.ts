import { Database, type Statement } from 'bun:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewBar } from '../../ledger/prices/bars.ts';
import { type Ohlc, sameOhlc } from '../../market/bar.ts';
import { type Day, printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';

/** A line of a file, and what is to be said of it. */
export interface LineRemark {
  line: number;
  reason: string;
}

/** So many rows are inserted in one transaction. */
const ROWS_AT_ONCE = 5_000;
/** A batch ends with the symbol that fills it. No symbol has more bars than the calendar has days. */
const BATCH_BARS = 20_000;
const CACHE_KIB = 16 * 1024;

/** A bar of a file, and the line that it came from. */
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
 * The bars of a file on their way into the ledger, in a temporary SQLite file: sorted by symbol and day, with repeated
 * days resolved, whatever the order and the size of the file. Memory use does not depend on either.
 */
export class Staging {
  readonly #folder: string;
  readonly #db: Database;
  readonly #insert: Statement;
  #pending: StagedRow[] = [];
  rows = 0;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'openpit-import-'));
    this.#db = new Database(join(this.#folder, 'staging.db'));
    // Nobody needs the file after a crash, so nothing is written twice or flushed.
    this.#db.run('PRAGMA journal_mode = OFF');
    this.#db.run('PRAGMA synchronous = OFF');
    this.#db.run('PRAGMA temp_store = FILE');
    this.#db.run(`PRAGMA cache_size = -${CACHE_KIB}`);
    this.#db.run(
      'CREATE TABLE staged (symbol INT, day INT, line INT, open REAL, high REAL, low REAL, close REAL)',
    );
    this.#insert = this.#db.prepare('INSERT INTO staged VALUES (?, ?, ?, ?, ?, ?, ?)');
  }

  add(symbol: number, day: Day, line: number, prices: readonly number[]): void {
    const [open, high = open, low = open, close = open] = prices as [number, ...number[]];
    this.#pending.push([symbol, day, line, open, high, low, close]);
    this.rows++;
    if (this.#pending.length >= ROWS_AT_ONCE) this.#flush();
  }

  /** Starts again with an empty table. */
  clear(): void {
    this.#pending = [];
    this.rows = 0;
    this.#db.run('DELETE FROM staged');
  }

  /**
   * The bars by symbol and day, one for each, in batches of whole symbols, with the ids that the symbols' numbers stand
   * for. A day that comes twice with the same prices
   * is one day; with different prices none is used, and `onDispute` is told.
   */
  *batches(ids: readonly number[], onDispute: (remark: LineRemark) => void): Generator<StagedBar[]> {
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
        isDisputed = true;
        const both = `${pricesOf(last)} (line ${last.line}) and ${pricesOf(row)} (line ${row.line})`;
        onDispute({
          line: row.line,
          reason: `${printDay(row.day)} has two prices, ${both}; neither is used`,
        });
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
    rmSync(this.#folder, { recursive: true, force: true });
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

function pricesOf({ open, high, low, close }: Ohlc): string {
  const all = [open, high, low, close].map(printNumber);
  return new Set(all).size === 1 ? all[0]! : all.join('/');
}
