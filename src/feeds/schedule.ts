import { Cron } from 'croner';

/** When something is run: a cron expression on the clock of an IANA zone. */
export interface Schedule {
  readonly schedule: string;
  readonly zone: string;
}

/** A run may take this long, attempts and pauses included, before its slot counts as missed. */
const GRACE_MS = 10 * 60_000;
/** A failed run is tried again after this long, then twice as long, and so on. */
const FIRST_RETRY_MS = 15 * 60_000;
const DOUBLINGS_MAX = 4; // four hours

/** The first slot after an instant, in ms. */
export function nextSlot({ schedule, zone }: Schedule, after: number): number {
  const next = new Cron(schedule, { timezone: zone }).nextRun(new Date(after));
  if (!next) throw new Error(`the schedule "${schedule}" never comes`);
  return next.getTime();
}

/** When a feed is late whose last good run was at `since`: two of its slots have passed without one. */
export function lateAfter(schedule: Schedule, since: number): number {
  return nextSlot(schedule, nextSlot(schedule, since)) + GRACE_MS;
}

/**
 * When to try again after so many failures in a row: well before the next slot where that is far away, at the latest then,
 * and never before the provider wants to be asked. `random` spreads those who failed together.
 */
export function retryAt(
  schedule: Schedule,
  now: number,
  failures: number,
  comeBackMs: number,
  random: number,
): number {
  const pauseMs = FIRST_RETRY_MS * 2 ** Math.min(failures - 1, DOUBLINGS_MAX) * (1 + random / 4);
  return Math.round(Math.max(Math.min(nextSlot(schedule, now), now + pauseMs), now + comeBackMs));
}
