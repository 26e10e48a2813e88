import type { DrainTime } from './server-options.ts';

/** A client that is about to send a request on an open connection must not find it closed. */
const QUIET_MS = 300;
const WAIT_MS_MAX = 3_000;

export const REAL_TIME: DrainTime = { now: () => performance.now(), sleep: Bun.sleep };

/** Waits until no request has arrived for a moment, at most `limitMs`. Every response sent meanwhile closes its connection. */
export async function untilQuiet(
  state: { readonly requests: number },
  limitMs: number,
  time: DrainTime,
): Promise<void> {
  const end = time.now() + Math.min(limitMs, WAIT_MS_MAX);
  let quietSince = time.now();
  let { requests } = state;
  while (time.now() < Math.min(end, quietSince + QUIET_MS)) {
    await time.sleep(20);
    if (state.requests !== requests) quietSince = time.now();
    requests = state.requests;
  }
}
