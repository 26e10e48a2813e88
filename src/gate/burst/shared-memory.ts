import { linkSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeCompleteFile } from '../complete-file.ts';

/** Memory that all processes with the same file share, and the id of that file. */
export interface SharedMemory {
  id: string;
  words: Int32Array;
}

const ID_BYTES = 36;
const HEADER_BYTES = 64;

/**
 * Maps a file, which the first process creates. If that fails, as on a full disk, the memory and its id are this process's
 * own.
 */
export function openSharedMemory(path: string, words: number): SharedMemory {
  const size = HEADER_BYTES + words * Int32Array.BYTES_PER_ELEMENT;
  try {
    if (statSync(path, { throwIfNoEntry: false })?.size !== size) create(path, size);
    const bytes = Bun.mmap(path, { shared: true });
    if (bytes.length === size) return memoryOf(bytes);
  } catch {
    // The memory below is used instead.
  }
  return memoryOf(newContent(size));
}

function create(path: string, size: number): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${crypto.randomUUID()}`;
  try {
    writeCompleteFile(unfinished, newContent(size));
    // Only a file of another layout is removed: that of a process that was first may appear at any moment.
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? size) !== size) rmSync(path, { force: true });
    linkSync(unfinished, path); // fails if another process was first, and then its file is used
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function newContent(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  bytes.set(new TextEncoder().encode(crypto.randomUUID()));
  return bytes;
}

function memoryOf(bytes: Uint8Array): SharedMemory {
  const id = new TextDecoder().decode(bytes.subarray(0, ID_BYTES));
  const count = (bytes.byteLength - HEADER_BYTES) / Int32Array.BYTES_PER_ELEMENT;
  return { id, words: new Int32Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, count) };
}
