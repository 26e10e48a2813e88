import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lockSlot } from './slot-lock.ts';

/** Whether a running process uses this spool: it then holds the lock of a slot. */
export function isInUse(dir: string): boolean {
  if (!existsSync(dir)) return false;
  return readdirSync(dir)
    .filter((name) => name.endsWith('.lock'))
    .some((name) => {
      const lock = lockSlot(join(dir, name));
      lock?.release();
      return lock === undefined;
    });
}
