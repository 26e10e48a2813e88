import type { Board } from '../board/board.ts';
import type { SourcedBar } from '../board/columns.ts';
import { printNumber } from '../market/decimal.ts';
import type { AskedSymbol } from './parameters.ts';

/** JSON of answers, put together from ready-made pieces. */

export function ohlcJson(bar: SourcedBar): string {
  return `{"open":${printNumber(bar.open)},"high":${printNumber(bar.high)},"low":${printNumber(bar.low)},"close":${printNumber(bar.close)}}`;
}

/** `"XAU":value` for each symbol, under the code it was asked by. */
export function bySymbol(
  symbols: readonly AskedSymbol[],
  value: (asked: AskedSymbol, index: number) => string,
): string {
  let json = '{';
  for (let i = 0; i < symbols.length; i++) {
    if (i > 0) json += ',';
    json += `${JSON.stringify(symbols[i]!.code)}:${value(symbols[i]!, i)}`;
  }
  return `${json}}`;
}

/** The opening of a metadata record: what the number is. */
export function unitAndQuote({ series }: AskedSymbol): string {
  const { unit, currency } = series.symbol;
  return `"unit":${JSON.stringify(unit.symbol)},"quote":${JSON.stringify(currency.code)}`;
}

/** The names of the sources of some bars, each once. */
export function sourcesJson(board: Board, sourceIds: Iterable<number>): string {
  const names = [...new Set(sourceIds)].map((id) => board.sourceName(id));
  return JSON.stringify(names.length > 0 ? names.join(', ') : 'none');
}
