import type { Prices } from '../../board/views/prices.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import type { Cursor } from '../params/cursor.ts';
import { RowDeriver } from './derive-rows.ts';
import { type Piece, piecesOf, type Span, windowsFrom } from './interval-rows.ts';

/**
 * The rows of a span starting at a cursor, ordered by date and then by the order of symbols in the request. Prices are in memory.
 * While it looks for the closes before the cursor, pieces are empty.
 */
export function* intervalPieces(
  from: Cursor,
  symbols: readonly RequestedSymbol[],
  prices: Prices,
  span: Span,
): Generator<Piece> {
  const reading = RowDeriver.at(from, symbols, prices, span);
  let step = reading.next();
  for (; !step.done; step = reading.next()) yield { rows: [], bars: 0, next: from };
  const deriver = step.value;
  for (const window of windowsFrom(from, symbols, prices, span)) {
    for (const piece of piecesOf(window, from, symbols, prices, span.interval)) {
      deriver?.derive(piece.rows);
      yield piece;
    }
  }
}
