import { heapStats } from 'bun:jsc';
import { readFileSync } from 'node:fs';

/** The resident memory of a process, in MB. It includes freed memory that was not returned to the system. */
export function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kb) / 1024);
}

/** Why memory cannot be measured on this machine; undefined when it can. */
export function lacksProc(): string | undefined {
  return process.platform === 'linux' ? undefined : '/proc';
}

/** The memory in use after a garbage collection, in bytes. */
export function heldBytes(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}
