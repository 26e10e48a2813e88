/**
 * Pseudo-random numbers that are identical on every machine: hashes of integers, combined only by operations that IEEE 754
 * rounds exactly (+, −, ×, ÷). Math.log, Math.cos and Math.exp differ between C libraries.
 */

/** A seed from a text: FNV-1a, then mixed, so that similar codes get unrelated seeds. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix(hash);
}

/** The finalizer of MurmurHash3: every input bit affects half of the output bits. */
function mix(n: number): number {
  let h = n;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Uniform in [0, 1). */
export function uniform(seed: number, n: number): number {
  return hashOf(seed, n) / 0x1_0000_0000;
}

/** Approximately standard normal: the sum of twelve uniforms of ten bits has variance 1, and stays within ±6. */
export function normal(seed: number, n: number): number {
  let word = hashOf(seed, n);
  let sum = 0;
  for (let i = 0; i < 4; i++) {
    sum += (word & 1023) + ((word >>> 10) & 1023) + ((word >>> 20) & 1023);
    word = mix(word + 0x9e3779b9);
  }
  return (sum + 6) / 1024 - 6; // the mean of each is 511.5
}

/** e^x for |x| up to 20 or so, to 13 digits. */
export function exp(x: number): number {
  const small = x / 1024;
  let power = 1 + small * (1 + (small / 2) * (1 + (small / 3) * (1 + (small / 4) * (1 + small / 5))));
  for (let i = 0; i < 10; i++) power *= power;
  return power;
}

/** The natural logarithm of x > 0, to 15 digits. Halving and doubling are exact; the series of artanh converges fast near 1. */
export function log(x: number): number {
  let [m, twos] = [x, 0];
  for (; m > 1.5; twos++) m /= 2;
  for (; m < 0.75; twos--) m *= 2;
  const z = (m - 1) / (m + 1);
  let [sum, power] = [0, z];
  for (let n = 1; n < 40; n += 2) {
    sum += power / n;
    power *= z * z;
  }
  return 2 * sum + twos * Math.LN2;
}

function hashOf(seed: number, n: number): number {
  return mix(mix(n + 0x9e3779b9) ^ seed);
}
