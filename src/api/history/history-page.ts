import type { Board } from '../../board/board.ts';
import type { Prices } from '../../board/views/prices.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import type { Cursor } from '../params/cursor.ts';
import { bySymbol, metadataStart, ohlcJson, sourcesJson } from '../response/json.ts';
import { intervalPieces } from './interval-pieces.ts';
import { byDayAndSymbol, type IntervalRow, isFrom, printStart, type Span } from './interval-rows.ts';
import { fieldsJson, type RowFields } from './row-fields.ts';

/** Collects a page of history as JSON, and the sources of each symbol in it. */
export class HistoryPage {
  readonly #symbols: readonly RequestedSymbol[];
  readonly #codes: readonly string[];
  #rates = '';
  #length = 0;
  readonly #sources: readonly Set<number>[];
  readonly #fields: RowFields;

  constructor(symbols: readonly RequestedSymbol[], fields: RowFields) {
    this.#symbols = symbols;
    this.#fields = fields;
    this.#codes = symbols.map(({ code }) => `","symbol":"${code}",`); // codes contain nothing to escape
    this.#sources = symbols.map(() => new Set<number>());
  }

  get length(): number {
    return this.#length;
  }

  add(row: IntervalRow): void {
    const { symbolIndex, factor, sourceIds } = row;
    const start = `${this.#length++ > 0 ? ',' : ''}{"date":"${printStart(row)}${this.#codes[symbolIndex]}`;
    const prices = `${ohlcJson(row).slice(1, -1)}${factor ? `,"factor":${factor.text}` : ''}`;
    this.#rates += `${start}${prices}${fieldsJson(this.#fields, row)}}`;
    for (const id of sourceIds) this.#sources[symbolIndex]!.add(id);
  }

  ratesJson(): string {
    return `[${this.#rates}]`;
  }

  metadataJson(board: Board, prices: Prices): string {
    return bySymbol(this.#symbols, (requested, symbolIndex) => {
      const source = sourcesJson(board, [...this.#sources[symbolIndex]!]);
      return `{${metadataStart(requested, prices.measure(requested.series))},"source":${source}}`;
    });
  }
}

export interface HistoryPageOptions {
  symbols: readonly RequestedSymbol[];
  span: Span;
  fields: RowFields;
  /** The first row of the page. */
  from: Cursor;
  /** The first row of the next page, if there is one. */
  end: Cursor | undefined;
}

/** Builds a page, yielding to requests between pieces. The prices must be immutable. */
export async function buildPage(options: HistoryPageOptions, prices: Prices): Promise<HistoryPage> {
  const { symbols, span, fields, from, end } = options;
  const page = new HistoryPage(symbols, fields);
  for (const piece of intervalPieces(from, symbols, prices, span)) {
    for (const row of piece.rows) {
      if (end && isFrom(end, row)) return page;
      page.add(row);
    }
    if (end && byDayAndSymbol(piece.next, end) >= 0) return page;
    if (shouldYield()) await yieldToRequests();
  }
  return page;
}
