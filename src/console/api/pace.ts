/** Keeps the page within the burst limit of its key, so that it never causes a 429 by itself. */

const SECOND_MS = 1_000;

/** Until the plan is known: less than the smallest plan allows. */
let perSecond = 4;

/** When the requests of the last second were answered; infinity while one is under way. */
const answeredAt = new Set<{ at: number }>();

/** One less than the limit, which covers all programs of the account. */
export function learnBurstLimit(burstPerSecond: number): void {
  perSecond = Math.max(1, burstPerSecond - 1);
}

/**
 * Sends a request when no more than the limit were answered within the last second or are under way. The service counts a
 * request before it answers it, so it cannot have counted more than these.
 */
export async function paced<T>(send: () => Promise<T>): Promise<T> {
  while (recent() >= perSecond) await new Promise((resolve) => setTimeout(resolve, SECOND_MS / 20));
  const request = { at: Number.POSITIVE_INFINITY };
  answeredAt.add(request);
  return send().finally(() => {
    request.at = Date.now();
  });
}

function recent(): number {
  const now = Date.now();
  for (const request of answeredAt) if (now - request.at >= SECOND_MS) answeredAt.delete(request);
  return answeredAt.size;
}
