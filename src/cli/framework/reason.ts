import { adviceOn } from '../../ledger/engine/advice.ts';
import { DiskNearlyFull } from '../../ledger/engine/disk-space.ts';
import { isCorrupt, isFull, isPermissionDenied, outageReason } from '../../ledger/engine/errors.ts';
import { messageOf } from '../../runtime/log/log.ts';

const FREE_SPACE = 'free space on the disk of OPENPIT_DATA_DIR and of the files that the command writes';

/** Why a command failed, for people: what databases and the operating system report says neither where nor what to do. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  const { code, path } = error as { code?: string; path?: string };
  if (typeof code !== 'string') return message;
  if (isFull(error)) return `${message} (${adviceOn(error) ?? FREE_SPACE})`;
  if (path !== undefined) return fileProblem(code, path) ?? message;
  if (code.startsWith('SQLITE_READONLY'))
    return `this user cannot write to the ledger: ${message} (openpit doctor says what to change)`;
  if (isPermissionDenied(error))
    return `${message} (see "Database privileges" in docs/operating.md, or openpit doctor)`;
  if (isCorrupt(error))
    return `the ledger is damaged: ${message} (see openpit doctor, or restore a backup: openpit restore FILE)`;
  if (error instanceof DiskNearlyFull) return `the ledger is unavailable: ${message}`;
  const advice = adviceOn(error) ?? adviceOn((error as { cause?: unknown }).cause);
  if (advice !== undefined) return `the ledger cannot be used: ${message} (${advice})`;
  if (outageReason(error) === undefined) return message;
  return `the ledger cannot be reached: ${message} (check OPENPIT_DATABASE_URL or OPENPIT_DATA_DIR)`;
}

function fileProblem(code: string, path: string): string | undefined {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `this user may not access ${path}; run the command as the owner of the file, or choose another place`;
    case 'EROFS':
      return `${path} is on a read-only file system`;
    case 'EEXIST':
    case 'ENOTDIR':
      return `${path} is not a folder`;
    default:
      return undefined;
  }
}
