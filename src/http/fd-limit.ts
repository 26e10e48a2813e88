import { readFileSync } from 'node:fs';

/** For the ledger, the feeds and the logs. Bun ends a process that finds none for a file of its own. */
const OWN_FILES = 200;

/**
 * How many connections there may be. When a process has as many files open as the system allows, accepting fails, and
 * Bun tries again without a pause: a core is busy with that for as long as it lasts. So it must not come to that.
 */
export function connectionsMax(): number {
  const allowed = openFilesMax();
  return allowed - Math.min(OWN_FILES, allowed / 2);
}

/** How many files a process may have open. Infinity where the system does not tell: only Linux does. */
export function openFilesMax(process: 'self' | number = 'self'): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync(`/proc/${process}/limits`, 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
