import { accessSync, chmodSync, closeSync, constants, fchownSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../../../runtime/log/log.ts';

const OWNER_ONLY = 0o600;

/**
 * Creates an empty file that only its owner may read, before a library creates it with another mode. An existing file is
 * restricted. SQLite gives its WAL the mode and the owner of the main file. What root creates belongs to the owner of the
 * folder: otherwise, the service could not open a ledger after a command that was run with sudo.
 *
 * An existing file is never opened here: closing any descriptor of a file drops all POSIX locks that the process holds on
 * it, including those of SQLite.
 */
export function createPrivate(path: string): void {
  try {
    const file = openSync(path, 'wx', OWNER_ONLY);
    if (process.getuid?.() === 0) giveToOwnerOf(dirname(path), file);
    closeSync(file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    restrict(path);
  }
}

/** A file system without owners, or one that maps root to another user, refuses. The file then stays as it is. */
function giveToOwnerOf(folder: string, file: number): void {
  const { uid, gid } = statSync(folder);
  try {
    fchownSync(file, uid, gid);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EINVAL'].includes(codeOf(error))) throw error;
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

/** Throws if this user may not open the ledger or its log, as after a command of another user. */
export function requireAccess(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const owner = statSync(file, { throwIfNoEntry: false })?.uid;
    if (owner === undefined || mayOpen(file)) continue;
    const user = process.getuid?.(); // a container's user may have no name
    throw new Error(
      `user ${user} may not open ${file}, which belongs to user ${owner}; give it back as root: chown ${user} ${path}*`,
    );
  }
}

function mayOpen(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
