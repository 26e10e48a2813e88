import { renameSync, statSync } from 'node:fs';
import { writeCompleteFile } from '../complete-file.ts';
import { readSealed, writeSealed } from './sealed-json.ts';
import { OWNER_BYTES, type Owner, saltOf } from './spool-record.ts';

/**
 * A spool file, version 4 (`0-0.v4.spool`):
 *
 *      0                        4096
 *      ├─ header, sealed JSON ───┼─ block of records ─┼─ block ─┼─ …
 *
 *      block:  ├─ 512 owners ─┼─ 512 counts of the first endpoint ─┼─ 512 counts of the second ─┼─ …
 *
 * The header holds the version, the number of records in a block and in the file, and the names of the counted endpoints, in
 * the order of the counts, so that a program with other endpoints reads the counts correctly. Most requests are for one or two
 * endpoints, and the counts of an endpoint are together: those of ten thousand leases fit into the processor's cache. The
 * suffix in the name makes version 1 ignore the file.
 *
 * Up to version 3, each record was a block of its own. Version 2 had larger records. Version 1 (`0-0.spool`) also had no
 * header, and always the eight endpoints below.
 */
export class SpoolFile {
  readonly path: string;
  readonly version: number;
  readonly endpoints: readonly string[];
  /** The number of records. An incomplete block at the end of a truncated file is left out. */
  readonly count: number;
  /** How many records are missing because the file is truncated. Before version 4, files do not say how many they had. */
  readonly missing: number;
  /** All records as float64, memory-mapped. */
  readonly words: Float64Array;
  /** The numbers of the records that a new lease may take. */
  readonly free: number[] = [];
  /** The number of records in a block, and so the number of words between two counts of a record. */
  readonly block: number;
  readonly #bytes: Uint8Array;
  readonly #ownerBytes: number;
  readonly #blockBytes: number;

  constructor(path: string, { version, endpoints, block = 1, records }: SpoolHeader, bytes: Uint8Array) {
    this.path = path;
    this.version = version;
    this.endpoints = endpoints;
    this.block = block;
    this.#bytes = bytes;
    const { ownerBytes, recordBytes } = layoutOf(version, endpoints.length);
    this.#ownerBytes = ownerBytes;
    this.#blockBytes = block * recordBytes;
    this.count = Math.floor(bytes.length / this.#blockBytes) * block;
    this.missing = Math.max(0, (records ?? 0) - this.count);
    this.words = new Float64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / WORD_BYTES));
  }

  /** Where a record says whose counts it has. */
  ownerArea(index: number): Uint8Array {
    const at = this.#blockAt(index) + (index % this.block) * this.#ownerBytes;
    return this.#bytes.subarray(at, at + this.#ownerBytes);
  }

  /** Where the first count of a record is in `words`. The next ones follow at intervals of `block`. */
  firstCountAt(index: number): number {
    return (this.#blockAt(index) + this.block * this.#ownerBytes) / WORD_BYTES + (index % this.block);
  }

  /** The record whose first count is there. */
  indexOf(firstCountAt: number): number {
    const blockIndex = Math.floor((firstCountAt * WORD_BYTES) / this.#blockBytes);
    const index = blockIndex * this.block;
    return index + firstCountAt - this.firstCountAt(index);
  }

  /** What the check bits of an owner's counts contain. */
  saltOf(owner: Owner): number {
    return this.version < 4 ? 0 : saltOf(owner);
  }

  /** A count of a record, with its check bits. */
  packedCount(index: number, counter: number): number {
    return this.words[this.firstCountAt(index) + counter * this.block]!;
  }

  #blockAt(index: number): number {
    return Math.floor(index / this.block) * this.#blockBytes;
  }
}

/** What the header of a file says. */
interface SpoolHeader {
  version: number;
  endpoints: readonly string[];
  /** Since version 4: the number of records in a block, and in the file. */
  block?: number;
  records?: number;
}

interface RecordLayout {
  ownerBytes: number;
  recordBytes: number;
}

const WORD_BYTES = 8;

export const SPOOL_VERSION = 4;

/** The counts of an endpoint in a block are one page of memory. */
const BLOCK_RECORDS = 512;

export const HEADER_BYTES = 4_096;

const VERSION_1_ENDPOINTS: readonly string[] = [
  'symbols',
  'latest',
  'historical',
  'time-series',
  'fluctuation',
  'revisions',
  'history',
  'stream',
];

/** Up to version 2, an owner had more bytes than it needs, and the counts were padded to whole cache lines. */
export function layoutOf(version: number, endpoints: number): RecordLayout {
  if (version < 3)
    return { ownerBytes: 448, recordBytes: 448 + Math.ceil((endpoints * WORD_BYTES) / 64) * 64 };
  return { ownerBytes: OWNER_BYTES, recordBytes: OWNER_BYTES + endpoints * WORD_BYTES };
}

/** A newer program wrote the file, in a layout that this program does not know. */
export class NewerSpool extends Error {
  constructor(path: string, version: number) {
    super(
      `${path} holds counts written by a newer openpit (spool version ${version}; this program reads up to ` +
        `${SPOOL_VERSION}): run the newer openpit`,
    );
  }
}

export function spoolFileName(slot: number, file: number): string {
  return `${slot}-${file}.v${SPOOL_VERSION}.spool`;
}

/** The slot and number in a spool file's name, of any version; undefined for any other file. */
export function parseSpoolFileName(name: string): { slot: number; file: number } | undefined {
  const match = /^(\d+)-(\d+)(?:\.v\d+)?\.spool$/.exec(name);
  return match ? { slot: Number(match[1]), file: Number(match[2]) } : undefined;
}

/** Creates a file of empty records and maps it. Throws when the disk is full. */
export function createSpoolFile(path: string, records: number, endpoints: readonly string[]): SpoolFile {
  const { recordBytes } = layoutOf(SPOOL_VERSION, endpoints.length);
  const block = Math.min(records, BLOCK_RECORDS);
  const header = { version: SPOOL_VERSION, endpoints, block, records };
  const bytes = new Uint8Array(HEADER_BYTES + records * recordBytes);
  if (!writeSealed(bytes.subarray(0, HEADER_BYTES), header)) {
    throw new Error(`the names of ${endpoints.length} counted endpoints do not fit into a spool header`);
  }
  const unfinished = `${path}.new`;
  writeCompleteFile(unfinished, bytes);
  renameSync(unfinished, path);
  const map = Bun.mmap(path, { shared: true });
  return new SpoolFile(path, header, map.subarray(HEADER_BYTES));
}

/** Maps a file of any version up to this program's. Undefined when its header is damaged; throws `NewerSpool`. */
export function openSpoolFile(path: string): SpoolFile | undefined {
  const map = statSync(path).size === 0 ? new Uint8Array() : Bun.mmap(path, { shared: true });
  if (!/\.v\d+\.spool$/.test(path)) {
    return new SpoolFile(path, { version: 1, endpoints: VERSION_1_ENDPOINTS }, map);
  }
  if (map.length < HEADER_BYTES) return undefined;
  const sealed = readSealed(map.subarray(0, HEADER_BYTES));
  if (typeof sealed === 'string') return undefined;
  const header = sealed.value as SpoolHeader;
  if (header.version > SPOOL_VERSION) throw new NewerSpool(path, header.version);
  return new SpoolFile(path, header, map.subarray(HEADER_BYTES));
}
