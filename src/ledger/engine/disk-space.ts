import { statfsSync } from 'node:fs';
import { Unavailable } from './errors.ts';

/** Reserved for usage counts and accounts, which take kilobytes an hour. On a small disk, an eighth of it. */
const RESERVE_BYTES = 32 * 1024 * 1024;
const RESERVE_SHARE = 1 / 8;

/** Enough for days of new files. On a small file system, a hundredth of it. */
const INODES_MIN = 10_000;
const INODES_SHARE_MIN = 1 / 100;

/** The name in `meta` under which SQLite allocates space for usage counts. */
export const RESERVED_SPACE = 'room';

/** Whether a folder's disk has more free space than the reserve. */
export function hasDiskSpace(folder: string): boolean {
  try {
    const { bsize, blocks, bavail } = statfsSync(folder);
    return bavail * bsize >= Math.min(RESERVE_BYTES, blocks * bsize * RESERVE_SHARE);
  } catch {
    return true; // an unreadable folder is another error, which the next write reports
  }
}

/** Whether a folder's file system can hold new files. One that does not count its inodes (btrfs) has 0 of 0. */
export function hasFreeInodes(folder: string): boolean {
  try {
    const { files, ffree } = statfsSync(folder);
    return ffree >= Math.min(INODES_MIN, files * INODES_SHARE_MIN);
  } catch {
    return true; // as above
  }
}

/** Only the reserve is left. */
export class DiskNearlyFull extends Unavailable {
  constructor() {
    super('its disk is nearly full, and no new prices are accepted');
  }
}

/** Throws when only the reserve is left. Requests can be served without new prices, but not without counting. */
export function requireDiskSpace(folder: string): void {
  if (!hasDiskSpace(folder)) throw new DiskNearlyFull();
}
