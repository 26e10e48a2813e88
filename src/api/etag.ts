/**
 * The tag of an answer is a hash of what it says, seeded with the ledger's epoch and the plan's delay. So a correction
 * changes it and somebody else's tick does not, and a restored ledger never repeats a tag.
 */
export function etagSeed(epoch: string, delayMs: number): bigint {
  if (epoch !== seedsOf) {
    seeds.clear();
    seedsOf = epoch;
  }
  return seeds.getOrInsertComputed(delayMs, () =>
    BigInt.asUintN(64, Bun.hash(`${epoch} ${delayMs}`) as bigint),
  );
}

const seeds = new Map<number, bigint>();
let seedsOf = '';

/** A weak tag is for an answer that differs in its timestamp alone. */
export function etagOf(content: Uint8Array, seed: bigint, weak: boolean): string {
  // Not as the hash's own seed, of which it takes 32 bits.
  const tag = (Bun.hash.xxHash3(content) ^ seed).toString(36);
  return weak ? `W/"${tag}"` : `"${tag}"`;
}

/** The tag of the same answer in another encoding, which is another representation. */
export function etagOfEncoding(etag: string, encoding: string): string {
  return `${etag.slice(0, -1)}-${encoding}"`;
}

/** Whether one of the tags in `If-None-Match` is this one, by the weak comparison that the header asks for. */
export function matches(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const own = opaque(etag);
  return ifNoneMatch.split(',').some((tag) => opaque(tag) === own);
}

function opaque(tag: string): string {
  return tag
    .trim()
    .replace(/^W\//, '')
    .replaceAll('"', '')
    .replace(/-gzip$/, '');
}
