import type { Ledger } from '../../ledger/ledger.ts';
import type { SeriesFailure } from '../../ledger/operations/feed-runs.ts';
import type { BarRevision, NewBar } from '../../ledger/prices/bars.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { NEIGHBOUR_DAYS } from '../../market/quality/suspicion.ts';
import type { Provider } from '../provider.ts';
import { findUnitChange } from './unit-change.ts';

/** Why the prices of a symbol are suspect, by symbol id. */
export type Doubts = Map<number, string>;

/**
 * Symbols whose unit seems to have changed. Prices are compared with the source's own last price of each day or, if it has
 * none, with that of other sources.
 */
export async function unitChanges(ledger: Ledger, bars: readonly NewBar[], source: string): Promise<Doubts> {
  const doubts: Doubts = new Map();
  const names = await ledger.sources.names();
  const isOwn = (one: BarRevision) => names.get(one.sourceId) === source;
  for (const [symbolId, ofSymbol] of Map.groupBy(bars, (bar) => bar.symbolId)) {
    const days = ofSymbol.map(({ day }) => day);
    const first = Math.min(...days) - NEIGHBOUR_DAYS;
    const last = Math.max(...days) + NEIGHBOUR_DAYS;
    const revisions = await ledger.bars.revisions(symbolId, 'real', first, last);
    const ownLast = [...revisions.filter((one) => !isOwn(one)), ...revisions.filter(isOwn)];
    const current = new Map(ownLast.map((one) => [one.day, one]));
    const closes = [...current.values()].filter((one) => !one.withdrawn);
    const change = findUnitChange(ofSymbol, new Map(closes.map((one) => [one.day, one.close])));
    if (change !== undefined) doubts.set(symbolId, change);
  }
  return doubts;
}

/** The doubts by series instead of symbol. */
export function heldSeries(
  doubts: Doubts,
  { series }: Provider,
  symbols: readonly LedgerSymbol[],
): SeriesFailure[] {
  return [...doubts].map(([symbolId, reason]) => {
    const { code } = symbols.find(({ id }) => id === symbolId)!;
    return { series: series.find(({ symbol }) => symbol === code)!.id, reason };
  });
}
