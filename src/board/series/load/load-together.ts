import type { Ledger } from '../../../ledger/ledger.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { shouldYield, yieldToRequests } from '../../../runtime/yield.ts';
import type { SymbolSeries } from '../symbol-series.ts';
import { hasHistory, type LoadLevel } from './load-level.ts';

export interface LoadOptions {
  ledger: Ledger;
  clock: Clock;
  beforeEach(): void;
}

/**
 * Loads series: the recent prices of as many at the same time as share the engine's statements, then their histories one by
 * one. Several histories that arrive together would keep this thread from requests.
 */
export async function loadTogether(
  wanted: readonly SymbolSeries[],
  level: LoadLevel,
  { ledger, clock, beforeEach }: LoadOptions,
  mayContinue = () => true,
): Promise<void> {
  const load = async (some: readonly SymbolSeries[], upTo: LoadLevel) => {
    if (shouldYield()) await yieldToRequests();
    beforeEach();
    await Promise.all(some.map((series) => series.load(upTo, clock)));
  };
  const { parallelLoads } = ledger.engine;
  for (let i = 0; i < wanted.length && mayContinue(); i += parallelLoads) {
    const some = wanted.slice(i, i + parallelLoads);
    if (some.length > 1 || !hasHistory(level)) await load(some, hasHistory(level) ? 'recent' : level);
    if (!hasHistory(level)) continue;
    for (const series of some) if (mayContinue()) await load([series], level);
  }
}
