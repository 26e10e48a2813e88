import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { RECORD_BYTES } from './spool-record.ts';

/**
 * Makes a file of empty records and maps it. Every byte is written first: a store into a hole of a sparse file on a
 * full disk is a SIGBUS. The file gets its name when it is whole, so that a crash leaves no short one. When there is no
 * room for it, it throws, and gives back what it had taken.
 */
export function makeSpoolFile(path: string, records: number): Uint8Array[] {
  const unfinished = `${path}.new`;
  const bytes = new Uint8Array(records * RECORD_BYTES);
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
  return openSpoolFile(path);
}

/** The records of a file, mapped. Whole ones only: what a cut file has of its last one is not looked at. */
export function openSpoolFile(path: string): Uint8Array[] {
  const records = Math.floor(statSync(path).size / RECORD_BYTES);
  if (records === 0) return [];
  const map = Bun.mmap(path, { shared: true });
  return Array.from({ length: records }, (_, i) => map.subarray(i * RECORD_BYTES, (i + 1) * RECORD_BYTES));
}
