/** The two that `write` leads to after it has looked at its arguments, which takes longer than writing; types leave them out. */
export interface Bytes extends Buffer<ArrayBuffer> {
  latin1Write(text: string, offset: number): number;
  utf8Write(text: string, offset: number): number;
}

/** Memory of its own, with anything in it. */
export function bytesFor(length: number): Bytes {
  return Buffer.allocUnsafeSlow(length) as Bytes;
}
