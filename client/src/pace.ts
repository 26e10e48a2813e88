import type { CancelSignal } from './options.ts';
import { sleep } from './sleep.ts';

/**
 * Keeps a client below the burst limit. A request is sent while fewer than the limit are under way or were answered within the
 * last window: the service counts a request before it answers it, so it cannot have counted more than these.
 */
export class Pace {
  /** Unknown before the first answer: until then, one request at a time. */
  #limit = 1;
  #windowMs = 1_000;
  /** When recent requests were answered; infinity while one is in progress. */
  readonly #requests = new Set<{ answeredAt: number }>();

  /** Reads `RateLimit-Policy: "month";q=10000;w=2592000, "burst";q=20;w=1`. A service without it sets no limit. */
  learn({ ok, headers }: { ok: boolean; headers: { get(name: string): string | null } }): void {
    const [, q, w] = /"burst";q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
    if (!q && !ok) return; // an error that does not know the plan
    // One less than the limit, which covers all programs of the account.
    this.#limit = q ? Math.max(1, Number(q) - 1) : Number.POSITIVE_INFINITY;
    this.#windowMs = 1_000 * Number(w ?? 0);
  }

  /** Waits for the next request's turn. Call the result when it is answered. */
  async enter(signal: CancelSignal): Promise<() => void> {
    while (this.#recent() >= this.#limit) await sleep(this.#windowMs / 20, signal);
    const request = { answeredAt: Number.POSITIVE_INFINITY };
    this.#requests.add(request);
    return () => {
      request.answeredAt = Date.now();
    };
  }

  #recent(): number {
    const since = Date.now() - this.#windowMs;
    for (const request of this.#requests) if (request.answeredAt <= since) this.#requests.delete(request);
    return this.#requests.size;
  }
}
