import type { Ledger } from '../../../ledger/ledger.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { shouldYield, yieldToRequests } from '../../../runtime/yield.ts';
import type { SymbolSeries } from '../symbol-series.ts';
import type { LoadLevel } from './load-level.ts';

export interface LoadOptions {
  ledger: Ledger;
  clock: Clock;
  beforeEach(): void;
}

/** Loads series, as many at the same time as share the statements of the engine. */
export async function loadTogether(
  wanted: readonly SymbolSeries[],
  level: LoadLevel,
  { ledger, clock, beforeEach }: LoadOptions,
  mayContinue = () => true,
): Promise<void> {
  const { parallelLoads } = ledger.engine;
  for (let i = 0; i < wanted.length && mayContinue(); i += parallelLoads) {
    if (shouldYield()) await yieldToRequests();
    beforeEach();
    await Promise.all(wanted.slice(i, i + parallelLoads).map((series) => series.load(level, clock)));
  }
}
