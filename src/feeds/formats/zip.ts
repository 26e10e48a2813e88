import { inflateRawSync } from 'node:zlib';
import { decode, UNZIPPED_BYTES_MAX } from './body.ts';

/** A file of a zip, from the central directory. */
export interface ZipEntry {
  name: string;
  method: number;
  crc: number;
  packedBytes: number;
  bytes: number;
  offset: number;
}

/** Far above the size of any workbook or download. */
const ENTRIES_MAX = 2_000;
/** Prices compress to a tenth as text, and to a thirtieth in a worksheet. */
const RATIO_MAX = 200;
/** Small files may compress further. */
const RATIO_FROM_BYTES = 1024 * 1024;

/**
 * The files of a zip, inflated on demand. The sizes in the directory are checked before anything is inflated, and inflating
 * stops at those sizes, so a zip bomb is rejected either way. Checksums are verified.
 */
export class Zip {
  readonly #body: Uint8Array;
  readonly #entries: ReadonlyMap<string, ZipEntry>;

  constructor(body: Uint8Array, bytesMax = UNZIPPED_BYTES_MAX) {
    this.#body = body;
    const entries = readDirectory(body);
    const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > bytesMax) throw new Error(`the zip file unpacks to ${total} bytes; the limit is ${bytesMax}`);
    const packed = entries.reduce((sum, { packedBytes }) => sum + packedBytes, 0);
    if (total > RATIO_FROM_BYTES && total > packed * RATIO_MAX)
      throw new Error(`the zip file unpacks to more than ${RATIO_MAX} times its size`);
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  read(name: string): Uint8Array | undefined {
    const entry = this.#entries.get(name);
    if (!entry) return undefined;
    const bytes = this.#unpack(entry);
    if (bytes.length !== entry.bytes || Bun.hash.crc32(bytes) !== entry.crc) throw damaged(name);
    return bytes;
  }

  #unpack({ name, method, packedBytes, bytes, offset }: ZipEntry): Uint8Array {
    const view = viewOf(this.#body);
    if (offset + 30 > view.byteLength || view.getUint32(offset, true) !== 0x04034b50) throw damaged(name);
    const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
    const packed = this.#body.subarray(start, start + packedBytes);
    if (packed.length !== packedBytes) throw damaged(name);
    if (method === 0) return packed;
    if (method !== 8)
      throw new Error(`"${name.slice(0, 60)}" in the zip file has an unknown compression method`);
    try {
      return inflateRawSync(packed, { maxOutputLength: Math.max(bytes, 1) });
    } catch {
      throw damaged(name);
    }
  }
}

function readDirectory(body: Uint8Array): ZipEntry[] {
  const { directoryAt: at, count } = findEnd(body);
  return directoryAt(body, at, count);
}

/** The entries of a directory that starts at `start`. */
export function directoryAt(body: Uint8Array, start: number, count: number): ZipEntry[] {
  if (count > ENTRIES_MAX) throw new Error(`the zip file has ${count} files; the limit is ${ENTRIES_MAX}`);
  const view = viewOf(body);
  const entries: ZipEntry[] = [];
  let at = start;
  for (let i = 0; i < count; i++) {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== 0x02014b50) throw cutOff();
    if ((view.getUint16(at + 8, true) & ENCRYPTED) !== 0)
      throw new Error('the zip file is protected by a password; unpack it first');
    const nameBytes = view.getUint16(at + 28, true);
    const extraAt = at + 46 + nameBytes;
    const extraEnd = extraAt + view.getUint16(at + 30, true);
    const wide = wideFields(view, extraAt, extraEnd);
    const fieldAt = (place: number) => {
      const value = view.getUint32(place, true);
      return value === IN_ZIP64 ? (wide.shift() ?? value) : value;
    };
    const bytes = fieldAt(at + 24); // in the order in which Zip64 has them
    const packedBytes = fieldAt(at + 20);
    const offset = fieldAt(at + 42);
    entries.push({
      name: decode(body.subarray(at + 46, extraAt)),
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packedBytes,
      bytes,
      offset,
    });
    at = extraEnd + view.getUint16(at + 32, true);
  }
  return entries;
}

/** Stands for a length or a place that Zip64 has in an extra field. Some programs, such as Apache POI, write it for small files, too. */
const IN_ZIP64 = 0xffff_ffff;

/** The 64-bit lengths and places of an entry that has any, from its extra fields. */
function wideFields(view: DataView, start: number, end: number): number[] {
  if (end > view.byteLength) throw cutOff();
  for (let at = start; at + 4 <= end; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    const count = Math.floor(Math.min(view.getUint16(at + 2, true), end - at - 4) / 8);
    return Array.from({ length: count }, (_, i) => wideAt(view, at + 4 + 8 * i));
  }
  return [];
}

function wideAt(view: DataView, at: number): number {
  const value = view.getBigUint64(at, true);
  if (value > Number.MAX_SAFE_INTEGER) throw cutOff();
  return Number(value);
}

/** The flag of an entry that has a password. */
const ENCRYPTED = 1;

const END_BYTES = 22;
/** Zip64 has another end record, and before the end record a locator with its place. */
const [WIDE_END_BYTES, LOCATOR_BYTES] = [56, 20];
/** The end records, and a comment of at most 64 KiB. */
export const END_BYTES_MAX = WIDE_END_BYTES + LOCATOR_BYTES + END_BYTES + 0xffff;

/** Finds the end record of a zip: its position in `tail`, which starts at `tailAt`, and where the directory starts in the file. */
export function findEnd(tail: Uint8Array, tailAt = 0): { at: number; directoryAt: number; count: number } {
  const view = viewOf(tail);
  const first = Math.max(0, view.byteLength - END_BYTES_MAX);
  for (let at = view.byteLength - END_BYTES; at >= first; at--) {
    if (view.getUint32(at, true) !== 0x06054b50) continue;
    const locatorAt = at - LOCATOR_BYTES;
    if (locatorAt < 0 || view.getUint32(locatorAt, true) !== 0x07064b50)
      return { at, directoryAt: view.getUint32(at + 16, true), count: view.getUint16(at + 10, true) };
    const wideEnd = wideAt(view, locatorAt + 8) - tailAt;
    const isThere = wideEnd >= 0 && wideEnd + WIDE_END_BYTES <= locatorAt;
    if (!isThere || view.getUint32(wideEnd, true) !== 0x06064b50) throw cutOff();
    return { at, directoryAt: wideAt(view, wideEnd + 48), count: wideAt(view, wideEnd + 32) };
  }
  throw cutOff();
}

function viewOf(body: Uint8Array): DataView {
  return new DataView(body.buffer, body.byteOffset, body.byteLength);
}

function cutOff(): Error {
  return new Error('the zip file is incomplete; it may be truncated');
}

function damaged(name: string): Error {
  return new Error(`"${name.slice(0, 60)}" in the zip file is damaged`);
}
