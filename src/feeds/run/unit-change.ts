import type { Bar } from '../../market/bar.ts';
import { type Day, printDay } from '../../market/day.ts';
import { unitFactor } from '../../market/quality/unit-factor.ts';

/**
 * Whether prices look as if their unit had changed: a jump by one of the factors, up or down, between neighbours, or
 * against what is known of the same day. `known` are the closes that the ledger has; a jump that is there already is
 * not questioned again, so one that the operator has accepted stays accepted. Says where.
 */
export function findUnitChange(bars: readonly Bar[], known: ReadonlyMap<Day, number>): string | undefined {
  const fresh = new Map(bars.map((bar) => [bar.day, bar.close]));
  const isNews = (day: Day) => fresh.has(day) && fresh.get(day) !== known.get(day);
  const days = [...new Set([...known.keys(), ...fresh.keys()])].sort((a, b) => a - b);
  for (const [i, day] of days.entries()) {
    const before = days[i - 1];
    const price = fresh.get(day) ?? known.get(day)!;
    const same = isNews(day) ? unitFactor(known.get(day), price) : undefined;
    if (same !== undefined)
      return `${printDay(day)} was ${known.get(day)} and is now ${price}, ${words(same)}`;
    if (before === undefined || !(isNews(day) || isNews(before))) continue;
    const from = fresh.get(before) ?? known.get(before)!;
    const factor = unitFactor(from, price);
    if (factor === undefined) continue;
    return `${printDay(before)} is ${from} and ${printDay(day)} is ${price}, ${words(factor)}`;
  }
  return undefined;
}

function words(factor: number): string {
  return `a jump by about ${Math.round(factor * 10) / 10}, as when a unit changes`;
}
