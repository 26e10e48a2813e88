import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/** When cores are scarce, a background thread gets about a tenth of the CPU time of the serving thread. */
const NICE_STEP = 10;
const NICE_MAX = 19;

/** Lowers the priority of the calling thread below that of the serving thread. Only Linux exposes a thread's id. */
export function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, Math.min(getPriority(thread) + NICE_STEP, NICE_MAX));
  } catch {
    // On other systems all threads have the same priority, so background work slows responses down more.
  }
}
