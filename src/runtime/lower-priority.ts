import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** When cores are scarce, a background thread gets about a tenth of the CPU time of the serving thread. */
const NICE = 10;

/** Lowers the priority of the calling thread below that of the serving thread. Only Linux exposes a thread's id. */
export function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, NICE);
  } catch {
    // On other systems all threads have the same priority, so background work slows responses down more.
  }
}
