import { statfsSync } from 'node:fs';
import { Unavailable } from './errors.ts';

/** Kept free for counts and accounts, which take kilobytes an hour. On a small disk an eighth of it does. */
const RESERVE_BYTES = 32 * 1024 * 1024;
const RESERVE_SHARE = 1 / 8;

/** Whether a folder's disk has room for more than the bare minimum. */
export function hasDiskSpace(folder: string): boolean {
  try {
    const { bsize, blocks, bavail } = statfsSync(folder);
    return bavail * bsize >= Math.min(RESERVE_BYTES, blocks * bsize * RESERVE_SHARE);
  } catch {
    return true; // a folder that cannot be looked at is another fault, and shows when it is written to
  }
}

/** Throws when what is left should be left to the counts: answers cannot go on without them, and can without new prices. */
export function requireDiskSpace(folder: string): void {
  if (!hasDiskSpace(folder)) throw new Unavailable('its disk is nearly full, and no new prices are taken in');
}
