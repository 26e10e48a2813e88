import type { DayRange } from '../../ledger/prices/past.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';

/**
 * Reads prices in steps. Each step names the days that it reads next, so that prices of the past can be loaded; prices in
 * memory need no loading. A step without days is a pause, in which the reader may yield to requests.
 */
export type PriceReading<T> = Generator<DayRange | undefined, T>;

/** Reads prices in memory. */
export function finish<T>(reading: PriceReading<T>): T {
  let step = reading.next();
  while (!step.done) step = reading.next();
  return step.value;
}

/** Reads prices of a snapshot, yielding to requests. */
export async function finishInTurns<T>(reading: PriceReading<T>): Promise<T> {
  for (let step = reading.next(); ; step = reading.next()) {
    if (step.done) return step.value;
    if (shouldYield()) await yieldToRequests();
  }
}
