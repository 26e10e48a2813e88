import type { Prices } from '../../board/views/prices.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import type { Cursor } from '../params/cursor.ts';
import { finish, RowDeriver } from './derive-rows.ts';
import { type Piece, piecesOf, type Span, windowsFrom } from './interval-rows.ts';

/** The rows of a span starting at a cursor, ordered by date and then by the order of symbols in the request. Prices are in memory. */
export function* intervalPieces(
  from: Cursor,
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  span: Span,
): Generator<Piece> {
  const deriver = finish(RowDeriver.at(from, symbols, prices, span));
  for (const window of windowsFrom(from, symbols, prices, span)) {
    for (const piece of piecesOf(window, from, symbols, prices, span.interval)) {
      deriver?.derive(piece.rows);
      yield piece;
    }
  }
}
