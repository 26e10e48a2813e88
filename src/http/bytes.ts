/** The two that `write` leads to after it has looked at its arguments, which takes longer than writing; types leave them out. */
export interface Bytes extends Buffer<ArrayBuffer> {
  latin1Write(text: string, offset: number): number;
  utf8Write(text: string, offset: number): number;
}

/** Memory of its own, with anything in it. */
export function bytesFor(length: number): Bytes {
  return Buffer.allocUnsafeSlow(length) as Bytes;
}

/** How much may lie idle. A turn's answers mostly fit into it. */
const SPARE_BYTES_MAX = 4 * 1024 * 1024;

/** By their length. */
const spares = new Map<number, Bytes[]>();
let spareBytes = 0;

/**
 * Memory for what is sent once, with anything in it. It is given back after that, and serves the next: what is allocated for
 * each answer anew is neither in the processor's caches nor, mostly, in the process, which gives unused memory back to the system.
 */
export function borrow(length: number): Bytes {
  const spare = spares.get(length)?.pop();
  if (!spare) return bytesFor(length);
  spareBytes -= length;
  return spare;
}

/** Nobody may know it any more. Whoever cannot be sure keeps it: it goes the way of all memory. */
export function giveBack(memory: Bytes): void {
  const { length } = memory;
  if (length > SPARE_BYTES_MAX) return;
  if (spareBytes + length > SPARE_BYTES_MAX) {
    spares.clear(); // other lengths are in use now
    spareBytes = 0;
  }
  spareBytes += length;
  const alike = spares.get(length);
  if (alike) alike.push(memory);
  else spares.set(length, [memory]);
}
