/** A code with more typos than this is not suggested. */
const TYPOS_MAX = 3;

/** A code or a word, and which characters it has. */
export interface KnownCode {
  code: string;
  /** A bit for each character, by its number modulo 32. */
  characters: number;
}

export function knownCode(code: string): KnownCode {
  return { code, characters: charactersOf(code) };
}

/**
 * Up to `count` known codes that are most similar to a wrong one, best first: codes that start with it or contain it, and
 * codes within a small edit distance, at most half of its length.
 */
export function nearestCodes(
  wrong: string,
  known: Iterable<string | KnownCode>,
  count = 3,
  typosMax = TYPOS_MAX,
): string[] {
  const farthest = Math.min(typosMax, Math.floor(wrong.length / 2));
  const own = knownCode(wrong);
  const ranked: { code: string; distance: number }[] = [];
  for (const one of known) {
    const other = typeof one === 'string' ? knownCode(one) : one;
    const { code } = other;
    const isPart =
      (wrong.length >= 2 && code.startsWith(wrong)) || (wrong.length >= 3 && code.includes(wrong));
    const distance = isPart ? 1 : typosBetween(own, other, farthest);
    if (distance <= farthest) ranked.push({ code, distance });
  }
  ranked.sort((a, b) => a.distance - b.distance || (a.code < b.code ? -1 : 1));
  return ranked.slice(0, count).map((entry) => entry.code);
}

/**
 * The edit distance of two codes; `limit + 1` if it exceeds the limit. Most codes are ruled out by their characters alone,
 * so a wrong code is cheap even with thousands of symbols.
 */
export function typosBetween(a: KnownCode, b: KnownCode, limit: number): number {
  // Each character that only one code has needs an edit, and an edit removes at most one such character from each code.
  const isFar = bits(a.characters & ~b.characters) > limit || bits(b.characters & ~a.characters) > limit;
  return isFar ? limit + 1 : editDistance(a.code, b.code, limit);
}

function charactersOf(code: string): number {
  let characters = 0;
  for (let i = 0; i < code.length; i++) characters |= 1 << (code.charCodeAt(i) & 31);
  return characters;
}

/** How many bits are set. */
function bits(word: number): number {
  let count = 0;
  for (let left = word; left !== 0; left &= left - 1) count++;
  return count;
}

/** Letters to add, drop, replace or swap with their neighbour; `limit + 1` as soon as it must be more than the limit. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  let least = 0;
  for (let i = 1; i <= a.length; i++) {
    const leastBefore = least;
    const row = [i];
    least = i;
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const best = Math.min(replaced, previous[j]! + 1, row[j - 1]! + 1);
      const distance = swapped ? Math.min(best, beforePrevious[j - 2]! + 1) : best;
      row.push(distance);
      if (distance < least) least = distance;
    }
    // A row builds on the two before it, so nothing below them can get better.
    if (least > limit && leastBefore > limit) return limit + 1;
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length]!;
}
