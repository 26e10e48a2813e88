import { readFileSync } from 'node:fs';

/** For the ledger, feeds and logs. Bun aborts if it cannot open a file of its own. */
const RESERVED_FILES = 200;

/**
 * How many connections the server may hold. At the process's limit of open files, accepting fails and Bun retries without
 * a pause, which keeps a core busy. So connections stay below that limit.
 */
export function connectionsMax(): number {
  const allowed = openFilesMax();
  return allowed - Math.min(RESERVED_FILES, allowed / 2);
}

/** How many files a process may have open. Known on Linux; Infinity elsewhere. */
export function openFilesMax(process: 'self' | number = 'self'): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync(`/proc/${process}/limits`, 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
