import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Where a core is short, taking prices in gets a tenth of what answering gets. */
const NICE = 10;

/** Has the thread that calls it step back behind the one that answers requests. Linux alone tells a thread who it is. */
export function stepBack(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, NICE);
  } catch {
    // Elsewhere all threads are equal, which is slower beside a large import and nothing worse.
  }
}
