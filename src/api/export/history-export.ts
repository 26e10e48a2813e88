import { Board } from '../../board/board.ts';
import { PastPrices } from '../../board/past/past-prices.ts';
import type { Prices } from '../../board/views/prices.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { utcDay } from '../../market/day.ts';
import type { Clock } from '../../runtime/clock.ts';
import { rangeWarnings } from '../endpoints/rates/closes.ts';
import { type HistoryQuery, history, spanOf } from '../endpoints/rates/history.ts';
import { pricesOf } from '../formulas/prices-of.ts';
import { RowDeriver } from '../history/derive-rows.ts';
import { type IntervalRow, piecesOf, windowsFrom } from '../history/interval-rows.ts';
import { intervalColumns, rowWriter } from '../history/interval-table.ts';
import { timedColumns } from '../history/intraday/intraday-answer.ts';
import { type IntradayQuery, isIntraday } from '../history/intraday/intraday-query.ts';
import { type IntradayReads, intradayPieces } from '../history/intraday/intraday-rows.ts';
import { intradayWarnings } from '../history/intraday/intraday-warnings.ts';
import type { PriceReading } from '../history/price-reading.ts';
import { Pivot, wideColumns } from '../history/wide-table.ts';
import { loadIntraday, windowsOf } from '../ledger-reads/ledger-reader.ts';
import { QueryParams } from '../model/query.ts';
import type { FlatColumn, FlatRow } from '../model/table.ts';
import { DIALECTS } from '../versions/dialects.ts';

export interface HistoryExportOptions {
  ledger: Ledger;
  clock: Clock;
  /** Whether symbols without real prices show simulated ones. */
  simulated: boolean;
  /** The parameters of `/rates/history`. Without `symbols`, all symbols that have prices. */
  parameters: Readonly<Record<string, string>>;
}

/** Rows in order, and how much of the history they complete. */
export interface ExportedRows {
  rows: readonly FlatRow[];
  /** From 0 to 1. */
  progress: number;
}

/** What an export consists of once it is opened. */
interface ExportParts {
  ledger: Ledger;
  board: Board;
  query: HistoryQuery | IntradayQuery;
  past: PastPrices;
  prices: Prices;
  /** In ms. Prices recorded later are not exported. */
  openedAt: number;
  warnings: readonly string[];
}

/** Rows before their cells are written. */
interface ReadRows {
  rows: readonly IntervalRow[];
  progress: number;
}

/** The export has no limits: anyone who can read the ledger may see everything in it. */
const OPERATOR: Plan = {
  name: 'operator',
  quota: Number.MAX_SAFE_INTEGER,
  delaySeconds: 0,
  maxSymbols: Number.MAX_SAFE_INTEGER,
  maxSpanDays: null,
  burstPerSecond: 1,
  history: true,
};

/**
 * Bars that are read at once. It bounds the memory. A page of the ledger's index has the bars of many days of one symbol, so
 * shorter reads of many symbols would read each page several times.
 */
const BARS_PER_LOAD = 200_000;

/** Rows that are in memory at the same time. */
const ROWS_PER_PIECE = 5_000;

/**
 * The rows of `/rates/history`, read from the ledger as of the moment it was opened. It holds only the days that it is
 * writing.
 */
export class HistoryExport {
  readonly columns: readonly FlatColumn[];
  /** About the symbols that it has no rows of. */
  readonly warnings: readonly string[];
  readonly #ledger: Ledger;
  readonly #board: Board;
  readonly #query: HistoryQuery | IntradayQuery;
  readonly #past: PastPrices;
  readonly #prices: Prices;
  readonly #openedAt: number;

  private constructor({ ledger, board, query, past, prices, openedAt, warnings }: ExportParts) {
    this.#ledger = ledger;
    this.#board = board;
    this.#query = query;
    this.#past = past;
    this.#openedAt = openedAt;
    const { symbols, fields, wideField } = query;
    this.#prices = prices;
    const columns = wideField === undefined ? intervalColumns(fields) : wideColumns(symbols, wideField);
    this.columns = isIntraday(query) ? timedColumns(columns) : columns;
    this.warnings = warnings;
  }

  /** Throws a refusal if the parameters are invalid. */
  static async open({ ledger, clock, simulated, parameters }: HistoryExportOptions): Promise<HistoryExport> {
    const board = await Board.open({ ledger, clock, historyBytesMax: 0, simulated }, []);
    const now = clock.now();
    const moment = { delayMs: 0, horizon: now, recordedBy: now, simulated };
    const symbols = parameters.symbols ?? (await codesWithPrices(ledger, board, moment));
    const query = new QueryParams(
      new Map(Object.entries({ ...parameters, symbols }).map(([name, value]) => [name, [value]])),
    );
    const context = { query, plan: OPERATOR, board, now, format: 'csv' as const, dialect: DIALECTS.v1 };
    const historyQuery = history.read(context) as HistoryQuery | IntradayQuery;
    const past = await PastPrices.open(ledger, historyQuery.series, moment);
    const prices = pricesOf(past, historyQuery, now);
    // Without named symbols, all that have prices are exported.
    const warnings = parameters.symbols === undefined ? [] : await warningsOf(historyQuery, past, prices);
    return new HistoryExport({ ledger, board, query: historyQuery, past, prices, openedAt: now, warnings });
  }

  async *rows(): AsyncGenerator<ExportedRows> {
    const { symbols, fields, wideField } = this.#query;
    const revision = (await this.#ledger.head()).prices;
    if (wideField === undefined) {
      const cells = rowWriter(this.#board, symbols, this.#prices, fields);
      for await (const { rows, progress } of this.#pieces()) yield { rows: rows.map(cells), progress };
    } else {
      const pivot = new Pivot(symbols.length, fields, wideField);
      for await (const { rows, progress } of this.#pieces()) yield { rows: pivot.add(rows), progress };
      yield { rows: pivot.end(), progress: 1 };
    }
    await this.#requireUnchanged(revision);
  }

  #pieces(): AsyncGenerator<ReadRows> {
    const query = this.#query;
    return isIntraday(query) ? this.#intradayPieces(query) : this.#dailyPieces(query);
  }

  async *#intradayPieces(query: IntradayQuery): AsyncGenerator<ReadRows> {
    const past = this.#past;
    const reads: IntradayReads = {
      loadIntraday: (time, interval, series = query.series) => {
        past.forget();
        return loadIntraday(past, { ...query, series }, time, interval);
      },
      nextIntraday: (from, interval, series = query.series) => past.nextIntraday(series, from, interval),
    };
    const days = { first: utcDay(query.first), last: utcDay(Math.min(query.last, this.#openedAt)) };
    const progressAt = this.#progress(days);
    for await (const rows of intradayPieces(query, this.#prices, reads, {
      now: this.#openedAt,
      rowsPerRead: ROWS_PER_PIECE,
    })) {
      if (rows.length > 0) yield { rows, progress: progressAt(rows.at(-1)!.day) };
    }
  }

  async *#dailyPieces(query: HistoryQuery): AsyncGenerator<ReadRows> {
    const { from, symbols } = query;
    const span = spanOf(query);
    const deriver = await this.#runReading(RowDeriver.at(from, symbols, this.#prices, span));
    const progressAt = this.#progress(span);
    for (const window of windowsFrom(from, symbols, this.#prices, span, BARS_PER_LOAD)) {
      await this.#load(window);
      const loaded = { ...span, first: window.first, last: window.last };
      const start = { day: Math.max(from.day, window.start), symbolIndex: 0 };
      for (const part of windowsFrom(start, symbols, this.#prices, loaded, ROWS_PER_PIECE)) {
        for (const { rows } of piecesOf(part, from, symbols, this.#prices, span.interval)) {
          deriver?.derive(rows);
          yield { rows, progress: progressAt(part.last) };
        }
      }
    }
  }

  /** Runs a reading, and loads the days that each of its steps asks for. */
  async #runReading<T>(reading: PriceReading<T>): Promise<T> {
    for (;;) {
      const step = reading.next();
      if (step.done) return step.value;
      if (step.value) await this.#load(step.value);
    }
  }

  /** Replaces the days in memory by these. */
  async #load(days: DayRange): Promise<void> {
    this.#past.forget();
    Bun.gc(true); // otherwise the heap grows to several times what is in use
    await this.#past.load(windowsOf(this.#query, days, 0));
  }

  /** The share of the days of all symbols that lie before a day. Most histories begin later than the longest one. */
  #progress({ first, last }: DayRange): (day: number) => number {
    const firstDays = this.#query.symbols.flatMap(({ series }) => this.#prices.firstDay(series) ?? []);
    const starts = firstDays.map((day) => Math.max(day, first)).filter((day) => day <= last);
    const daysUntil = (day: number) => starts.reduce((sum, start) => sum + Math.max(0, day - start + 1), 0);
    const total = daysUntil(last);
    return (day) => (total === 0 ? 1 : Math.min(1, daysUntil(day) / total));
  }

  /**
   * Fails if an import changed prices meanwhile. An import records its prices at the time it began; if that was before this
   * export, the rows written after its commit have them, and the rows before do not.
   */
  async #requireUnchanged(revision: number): Promise<void> {
    const symbolIds = this.#query.series.map(({ symbol }) => symbol.id);
    if (!(await this.#ledger.past.hasChanged(symbolIds, revision, this.#openedAt))) return;
    throw new Error(
      'an import that began before this export has changed its prices meanwhile; export them again',
    );
  }
}

async function warningsOf(
  query: HistoryQuery | IntradayQuery,
  past: PastPrices,
  prices: Prices,
): Promise<string[]> {
  if (!isIntraday(query)) return rangeWarnings(query.symbols, query, prices);
  return intradayWarnings(query, query.symbols, prices, {
    firstIntradayDays: (interval, series) => past.firstIntradayDays(series, interval),
  });
}

/** All symbols that have a price. */
async function codesWithPrices(
  ledger: Ledger,
  { catalog }: Board,
  moment: Parameters<typeof PastPrices.open>[2],
): Promise<string> {
  const prices = await PastPrices.open(ledger, catalog.series, moment);
  const found = catalog.series.filter((series) => prices.firstDay(series) !== undefined);
  if (found.length === 0) throw new Error('the ledger has no prices to export');
  return found.map(({ symbol }) => symbol.code).join(',');
}
