import { type AskRates, RequestRefused } from '../client/ask.ts';
import { MS_PER_DAY } from '../market/day.ts';

/** Prices of a session may arrive some minutes after its end. */
const LATE_MS = 3_600_000;

/** The delay of a plan rarely changes. */
const DELAY_KEPT_MS = 600_000;

/** A time, in ms: the agent's plan shows the complete sessions that ended before it. */
export type Horizon = () => Promise<number>;

/** Asks for the delay of the plan once it is needed, which is free. */
export function horizonOf(ask: AskRates, now: () => number): Horizon {
  let known: { delayMs: number; until: number } | undefined;
  return async () => {
    if (!known || now() >= known.until) {
      known = { delayMs: await readDelay(ask), until: now() + DELAY_KEPT_MS };
    }
    return now() - Math.max(known.delayMs, LATE_MS);
  };
}

/** A ledger has no delay, and other services have no such request. If the delay cannot be read, it may be a day. */
async function readDelay(ask: AskRates): Promise<number> {
  try {
    const { delaySeconds } = await ask<{ delaySeconds: number }>('/account/capabilities');
    return delaySeconds * 1_000;
  } catch (error) {
    return error instanceof RequestRefused && error.status === 404 ? 0 : MS_PER_DAY;
  }
}
