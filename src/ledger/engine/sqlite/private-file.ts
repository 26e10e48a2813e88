import { chmodSync, closeSync, openSync } from 'node:fs';

const OWNER_ONLY = 0o600;

/**
 * Creates an empty file that only its owner may read, before a library opens it with a mode of its own; one that exists
 * is restricted. SQLite gives its log the mode of the ledger.
 *
 * A file that exists is never opened here: closing any descriptor of a file drops all POSIX locks that the process holds
 * on it, and with them those of SQLite.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    restrict(path);
  }
}

/** Takes a file away from everybody but its owner, if there is one. */
export function restrict(path: string): void {
  try {
    chmodSync(path, OWNER_ONLY);
  } catch (error) {
    // Another user's file, or a file system without modes: nothing that this process could change.
    if (!['ENOENT', 'EPERM', 'ENOTSUP', 'EROFS'].includes(codeOf(error))) throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
