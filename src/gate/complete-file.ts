import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';

/**
 * Writes every byte of a file that will be mapped into memory: a store into a hole of a sparse file on a full disk raises
 * SIGBUS. The caller then gives the file its name, so a crash leaves no short one. Throws and cleans up when the disk is full.
 */
export function writeCompleteFile(unfinished: string, bytes: Uint8Array): void {
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
}
