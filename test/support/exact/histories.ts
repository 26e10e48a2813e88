import { parseDay, printDay } from '../../../src/market/day.ts';
import { Seeded } from '../seeded.ts';
import type { DatedCloses } from './derived-rows.ts';

/** With the decimals of their symbols. */
export const DECIMALS = { XAU: 2, XAG: 3, 'WTIOIL-SPOT': 2 } as const;
export type Code = keyof typeof DECIMALS;
export const CODES = Object.keys(DECIMALS) as Code[];

export const FIRST = parseDay('2018-01-01')!;
export const LAST = parseDay('2024-05-14')!;

/** Closes with gaps of days and of whole months; of oil, some are zero or negative, and some have more decimals. */
function closesOf(code: Code, seed: number): DatedCloses {
  const random = new Seeded(seed);
  const closes: [string, number][] = [];
  for (let day = FIRST; day <= LAST; day++) {
    if (random.isOneIn(90)) day += random.below(75);
    if (day > LAST || random.isOneIn(4)) continue;
    const cents = random.below(40_000) - (code === 'WTIOIL-SPOT' ? 8_000 : -1);
    const close = random.isOneIn(50) && code === 'WTIOIL-SPOT' ? 0 : cents / 100;
    // Repeated closes: extremes and peaks have several days.
    if (random.isOneIn(8) && closes.length > 0) closes.push([printDay(day), repeated(closes, random)]);
    else closes.push([printDay(day), random.isOneIn(20) ? Math.round(close * 1e4 + 7) / 1e4 : close]);
  }
  return closes;
}

/** One of the last closes, or the highest or the lowest of them. */
function repeated(closes: DatedCloses, random: Seeded): number {
  const last = closes.slice(-30).map(([, close]) => close);
  return random.pick([Math.max(...last), Math.min(...last), random.pick(last)]);
}

export const CLOSES = Object.fromEntries(CODES.map((code, i) => [code, closesOf(code, 31 + i)])) as Record<
  Code,
  DatedCloses
>;
