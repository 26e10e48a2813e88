/** How often a symbol's price is published. */
export type UpdateInterval = 'minute' | 'day' | 'week' | 'month';

export interface SymbolRecord {
  code: string;
  name: string;
  category: string;
  currency: { code: string; name: string; symbol: string };
  unit: { symbol: string; name: string };
  /** A key of MARKETS: it gives the session and the time zone. */
  market: string;
  /** How many decimals its prices usually have. */
  decimals: number;
  status: 'active' | 'deprecated';
  updateInterval: UpdateInterval;
}

/**
 * How far back a closed day looks for the last bar, in days. 14: the longest exchange closure plus margin.
 * A weekly value stands for a week and a monthly one for a month, and both come out late.
 */
export const LOOK_BACK_DAYS: Readonly<Record<UpdateInterval, number>> = {
  minute: 14,
  day: 14,
  week: 21,
  month: 100,
};

/** What a code may look like, once upper-cased. */
export const CODE_PATTERN = /^[A-Z0-9][A-Z0-9._-]{0,31}$/;

/** Up to `count` known codes that are most like a wrong one, best first. */
export function nearestCodes(wrong: string, known: Iterable<string>, count = 3): string[] {
  const farthest = Math.max(2, Math.floor(wrong.length / 2));
  const ranked: { code: string; distance: number }[] = [];
  for (const code of known) {
    const startsAlike = wrong.length >= 2 && (code.startsWith(wrong) || wrong.startsWith(code));
    const distance = startsAlike ? 1 : editDistance(wrong, code, farthest);
    if (distance <= farthest) ranked.push({ code, distance });
  }
  ranked.sort((a, b) => a.distance - b.distance || (a.code < b.code ? -1 : 1));
  return ranked.slice(0, count).map((entry) => entry.code);
}

/** Levenshtein distance, or `limit + 1` as soon as it must be over the limit. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(swap, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}
