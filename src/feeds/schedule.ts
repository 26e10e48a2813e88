import { Cron } from 'croner';

/** A cron expression in an IANA time zone. */
export interface Schedule {
  readonly schedule: string;
  readonly zone: string;
}

/** How long a run may take, retries included, before it counts as missed. */
const GRACE_MS = 10 * 60_000;
/** Exponential backoff of failed runs. */
const FIRST_RETRY_MS = 15 * 60_000;
const DOUBLINGS_MAX = 4; // four hours
/** A provider that asks for a longer pause is tried again after this one. */
const COME_BACK_MS_MAX = 7 * 24 * 60 * 60_000;

/** The first scheduled run after a time, in ms. */
export function nextSlot({ schedule, zone }: Schedule, after: number): number {
  const next = new Cron(schedule, { timezone: zone }).nextRun(new Date(after));
  if (!next) throw new Error(`the schedule "${schedule}" never matches`);
  return next.getTime();
}

/** When a feed becomes late if its last successful run was at `since`: after two missed runs. */
export function lateAfter(schedule: Schedule, since: number): number {
  return nextSlot(schedule, nextSlot(schedule, since)) + GRACE_MS;
}

/**
 * When to retry after a number of consecutive failures: by exponential backoff, at the next scheduled run at the latest, and
 * never before `comeBackMs`, of which a week is the maximum. `random` adds jitter.
 */
export function retryAt(
  schedule: Schedule,
  now: number,
  failures: number,
  comeBackMs: number,
  random: number,
): number {
  const pauseMs = FIRST_RETRY_MS * 2 ** Math.min(failures - 1, DOUBLINGS_MAX) * (1 + random / 4);
  const earliest = now + Math.min(comeBackMs, COME_BACK_MS_MAX);
  return Math.round(Math.max(Math.min(nextSlot(schedule, now), now + pauseMs), earliest));
}
