import { heapStats } from 'bun:jsc';
import { readFileSync } from 'node:fs';

/** What a process holds in memory, in MB: its resident set, which counts what it has given back to nobody. */
export function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kb) / 1024);
}

/** What this machine lacks for the measure; undefined when it can be taken. */
export function lacksProc(): string | undefined {
  return process.platform === 'linux' ? undefined : '/proc';
}

/** What this process has in use, in bytes, without what only waits to be collected: that is as the collector likes. */
export function heldBytes(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}
