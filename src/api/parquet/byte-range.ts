/** A part of a file, `end` excluded. */
export interface ByteRange {
  start: number;
  end: number;
}

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * Reads a `Range` header (RFC 9110, 14.1.2). Undefined if the whole file is to be sent: several ranges, other units and
 * malformed ones are ignored, as the RFC allows. Tools that read Parquet ask for one range at a time.
 */
export function readByteRange(
  header: string | null,
  length: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = header === null ? null : RANGE.exec(header.trim());
  if (!match) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const suffix = Number(last);
    return suffix === 0 ? 'unsatisfiable' : { start: Math.max(0, length - suffix), end: length };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= length) return 'unsatisfiable';
  return { start, end: last === '' ? length : Math.min(length, Number(last) + 1) };
}
