/**
 * A JSON value in a fixed area of a file, with a checksum over the whole area:
 *
 *      0         4          8
 *      ├─ crc32 ─┼─ length ─┼─ JSON, then zeros ─┤
 *
 * The checksum is written last and erased first, so a kill at any moment leaves the old value, the new one, or none.
 */
const LENGTH_AT = 4;
const TEXT_AT = 8;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Writes a value. Returns false and writes nothing when it does not fit. */
export function writeSealed(area: Uint8Array, value: unknown): boolean {
  const text = encoder.encode(JSON.stringify(value));
  if (text.length > area.length - TEXT_AT) return false;
  const view = viewOf(area);
  view.setUint32(0, 0, true);
  area.fill(0, TEXT_AT);
  area.set(text, TEXT_AT);
  view.setUint32(LENGTH_AT, text.length, true);
  view.setUint32(0, crcOf(area), true);
  return true;
}

export function eraseSealed(area: Uint8Array): void {
  viewOf(area).setUint32(0, 0, true);
  area.fill(0);
}

/** The value; `empty` when there is none, `torn` when the checksum does not match. */
export function readSealed(area: Uint8Array): { value: unknown } | 'empty' | 'torn' {
  const view = viewOf(area);
  if (view.getUint32(0, true) === 0) return 'empty';
  const length = view.getUint32(LENGTH_AT, true);
  if (length > area.length - TEXT_AT || view.getUint32(0, true) !== crcOf(area)) return 'torn';
  return { value: JSON.parse(decoder.decode(area.subarray(TEXT_AT, TEXT_AT + length))) };
}

/** Over the length and the whole text area, so that no byte is unprotected. */
function crcOf(area: Uint8Array): number {
  return Bun.hash.crc32(area.subarray(LENGTH_AT)) || 1; // 0 means empty
}

function viewOf(area: Uint8Array): DataView {
  return new DataView(area.buffer, area.byteOffset, area.byteLength);
}
