import { chmodSync, closeSync, openSync } from 'node:fs';
import { codeOf } from '../../../runtime/log/log.ts';

const OWNER_ONLY = 0o600;

/**
 * Creates an empty file that only its owner may read, before a library creates it with another mode. An existing file is
 * restricted. SQLite gives its WAL the mode of the main file.
 *
 * An existing file is never opened here: closing any descriptor of a file drops all POSIX locks that the process holds on
 * it, including those of SQLite.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    restrict(path);
  }
}

/** Makes a file accessible only to its owner, if it exists. */
export function restrict(path: string): void {
  try {
    chmodSync(path, OWNER_ONLY);
  } catch (error) {
    // Another user's file, or a file system without modes: this process cannot change it.
    if (!['ENOENT', 'EPERM', 'ENOTSUP', 'EROFS'].includes(codeOf(error))) throw error;
  }
}
