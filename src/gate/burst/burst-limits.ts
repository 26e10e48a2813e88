import { SECOND_MS } from '../../runtime/durations.ts';
import { openSharedMemory } from './shared-memory.ts';
import { SharedWindows, WINDOW_WORDS, type WindowKey } from './shared-windows.ts';

/**
 * The burst limits of this machine. Processes with the same data folder count together in mapped memory. Machines divide
 * each limit among themselves: counting together would take a round trip per request.
 */
export class BurstLimits {
  /** Names this machine: the same for all processes with this data folder. */
  readonly machine: string;
  readonly #windows: SharedWindows;
  #machines = 1;
  /** This machine's position among them: the first ones get the remainder of the division. */
  #rank = 0;

  constructor(path: string) {
    const { id, words } = openSharedMemory(path, WINDOW_WORDS);
    this.machine = id;
    this.#windows = new SharedWindows(words);
  }

  /** Counts a request if this machine's share of the limit allows it. */
  take(account: WindowKey, now: number, perSecond: number): boolean {
    if (this.#machines === 1) return this.#windows.take(account, now, perSecond, SECOND_MS);
    const { limit, windowMs } = shareOf(perSecond, this.#machines, this.#rank);
    return this.#windows.take(account, now, limit, windowMs);
  }

  /** Sets the machines that serve now, including this one. */
  setMachines(machines: readonly string[]): void {
    const others = machines.filter((machine) => machine !== this.machine);
    this.#machines = others.length + 1;
    this.#rank = others.filter((machine) => machine < this.machine).length;
  }
}

/** One machine's share of a limit. All shares add up to it; a share below 1 becomes 1 in a longer window. */
export function shareOf(
  perSecond: number,
  machines: number,
  rank: number,
): { limit: number; windowMs: number } {
  if (perSecond < machines) return { limit: 1, windowMs: Math.ceil((SECOND_MS * machines) / perSecond) };
  const extra = rank < perSecond % machines ? 1 : 0;
  return { limit: Math.floor(perSecond / machines) + extra, windowMs: SECOND_MS };
}
