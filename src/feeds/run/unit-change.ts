import type { Bar } from '../../market/bar.ts';
import { type Day, printDay } from '../../market/day.ts';
import { unitFactor } from '../../market/quality/unit-factor.ts';

/**
 * Describes where a unit seems to have changed: a jump by a typical conversion factor between neighbouring days, or against
 * the ledger's close of the same day (`known`). A jump that is already in the ledger does not count, so what the operator
 * has accepted stays accepted.
 */
export function findUnitChange(bars: readonly Bar[], known: ReadonlyMap<Day, number>): string | undefined {
  const fresh = new Map(bars.map((bar) => [bar.day, bar.close]));
  const isNew = (day: Day) => fresh.has(day) && fresh.get(day) !== known.get(day);
  const days = [...new Set([...known.keys(), ...fresh.keys()])].sort((a, b) => a - b);
  for (const [i, day] of days.entries()) {
    const before = days[i - 1];
    const price = fresh.get(day) ?? known.get(day)!;
    const same = isNew(day) ? unitFactor(known.get(day), price) : undefined;
    if (same !== undefined)
      return `${printDay(day)} was ${known.get(day)} and is now ${price}, ${describe(same)}`;
    if (before === undefined || !(isNew(day) || isNew(before))) continue;
    const from = fresh.get(before) ?? known.get(before)!;
    const factor = unitFactor(from, price);
    if (factor === undefined) continue;
    return `${printDay(before)} is ${from} and ${printDay(day)} is ${price}, ${describe(factor)}`;
  }
  return undefined;
}

function describe(factor: number): string {
  return `a jump by about ${Math.round(factor * 10) / 10}, as when a unit changes`;
}
