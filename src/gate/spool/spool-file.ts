import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { readSealed, writeSealed } from './sealed-json.ts';
import { recordBytesFor } from './spool-record.ts';

/**
 * A spool file, version 2 (`0-0.v2.spool`):
 *
 *      0                        4096
 *      ├─ header, sealed JSON ───┼─ record ─┼─ record ─┼─ …
 *
 * The header holds the version and the names of the counted endpoints, in the order of each record's counts, so that a
 * program with other endpoints reads the counts correctly. The suffix in the name makes version 1 ignore the file.
 *
 * Version 1 (`0-0.spool`) had no header and always the eight endpoints below.
 */
export interface SpoolFile {
  readonly path: string;
  readonly version: number;
  readonly endpoints: readonly string[];
  /** Memory-mapped. An incomplete record at the end of a truncated file is left out. */
  readonly records: readonly Uint8Array[];
}

export const SPOOL_VERSION = 2;

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

/**
 * Creates a file of empty records and maps it. Every byte is written first: a store into a hole of a sparse file on a
 * full disk raises SIGBUS. The file is renamed into place once it is complete, so a crash leaves no short one. Throws and
 * cleans up when the disk is full.
 */
export function createSpoolFile(path: string, records: number, endpoints: readonly string[]): SpoolFile {
  const bytes = new Uint8Array(HEADER_BYTES + records * recordBytesFor(endpoints.length));
  if (!writeSealed(bytes.subarray(0, HEADER_BYTES), { version: SPOOL_VERSION, endpoints })) {
    throw new Error(`the names of ${endpoints.length} counted endpoints do not fit into a spool header`);
  }
  const unfinished = `${path}.new`;
  const file = openSync(unfinished, 'w', 0o600);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  const map = Bun.mmap(path, { shared: true });
  return { path, version: SPOOL_VERSION, endpoints, records: recordsOf(map, HEADER_BYTES, endpoints.length) };
}

/** Maps a file of any version up to this program's. Undefined when its header is damaged; throws `NewerSpool`. */
export function openSpoolFile(path: string): SpoolFile | undefined {
  const map = statSync(path).size === 0 ? new Uint8Array() : Bun.mmap(path, { shared: true });
  if (!/\.v\d+\.spool$/.test(path)) {
    const records = recordsOf(map, 0, VERSION_1_ENDPOINTS.length);
    return { path, version: 1, endpoints: VERSION_1_ENDPOINTS, records };
  }
  if (map.length < HEADER_BYTES) return undefined;
  const sealed = readSealed(map.subarray(0, HEADER_BYTES));
  if (typeof sealed === 'string') return undefined;
  const { version, endpoints } = sealed.value as { version: number; endpoints: string[] };
  if (version > SPOOL_VERSION) throw new NewerSpool(path, version);
  return { path, version, endpoints, records: recordsOf(map, HEADER_BYTES, endpoints.length) };
}

function recordsOf(map: Uint8Array, from: number, endpoints: number): Uint8Array[] {
  const bytes = recordBytesFor(endpoints);
  const count = Math.max(0, Math.floor((map.length - from) / bytes));
  return Array.from({ length: count }, (_, i) => map.subarray(from + i * bytes, from + (i + 1) * bytes));
}
