import { readFileSync } from 'node:fs';

/** For the ledger, the feeds and the logs, which need files and sockets too. */
const OWN_FILES = 128;

/**
 * How many connections there may be. When a process has as many files open as the system allows, accepting fails, and
 * Bun tries again without a pause: a core is busy with that for as long as it lasts. So it must not come to that.
 */
export function connectionsMax(): number {
  const allowed = openFilesMax();
  return allowed - Math.min(OWN_FILES, allowed / 2);
}

/** Linux alone tells. */
function openFilesMax(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
