import { PooledBuffer } from '../../../http/message/buffer-pool.ts';
import { type BoundedCache, copyText } from '../../../runtime/bounded-cache.ts';
import type { Response } from '../request/step.ts';

/** How long an answer can be requested again. Clients give up sooner. */
export const IDEMPOTENCY_SECONDS = 120;

/** Longer answers are not kept: one of them would evict many others. */
const ANSWER_BYTES_MAX = 1024 * 1024;

/** Objects and headers of a kept answer, measured. */
const OBJECT_BYTES = 1_024;

/** A paid answer, in the bytes that were sent, and when. */
export interface KeptAnswer {
  readonly response: Response;
  readonly at: number;
}

/**
 * The paid answers to requests with an id of their own. A request that arrives again is answered with the same bytes, free of
 * charge: clients, browsers and gateways repeat requests whose response was lost. Nobody gains by repeating an id on purpose,
 * because the answer does not change.
 */
export class IdempotentAnswers {
  readonly #kept: BoundedCache<string, KeptAnswer>;
  /** Settled when the request is answered. */
  readonly #pending = new Map<string, Promise<void>>();

  constructor(kept: BoundedCache<string, KeptAnswer>) {
    this.#kept = kept;
  }

  /** Returns the kept answer of a request, or calls `answer`. A repeat waits for the request that is under way. */
  async once(
    request: string,
    now: number,
    answer: () => Promise<{ response: Response; isCharged: boolean }>,
  ): Promise<Response> {
    for (;;) {
      const kept = this.#kept.get(request);
      if (kept && now - kept.at < IDEMPOTENCY_SECONDS * 1000) return { ...kept.response };
      const pending = this.#pending.get(request);
      if (!pending) break;
      await pending;
    }
    const answered = Promise.withResolvers<void>();
    this.#pending.set(request, answered.promise);
    try {
      const { response, isCharged } = await answer();
      if (isCharged) this.#keep(request, response, now);
      return response;
    } finally {
      this.#pending.delete(request);
      answered.resolve();
    }
  }

  #keep(request: string, response: Response, at: number): void {
    const copy = copyOf(response);
    if (!copy || copy.length > ANSWER_BYTES_MAX) return;
    this.#kept.delete(request);
    this.#kept.set(copyText(request), { response: copy.response, at }, copy.length + OBJECT_BYTES);
  }
}

/** A copy that can be sent again. Undefined for a stream, which is sent while it is written. */
function copyOf(response: Response): { response: Response; length: number } | undefined {
  if (!('bytes' in response)) {
    const { body } = response;
    return body instanceof ReadableStream ? undefined : { response, length: body?.length ?? 0 };
  }
  const { status, bytes } = response;
  if (!(bytes instanceof PooledBuffer)) return { response, length: bytes.length };
  const copy = Uint8Array.from(bytes.memory.subarray(bytes.start, bytes.end));
  return { response: { status, bytes: copy, isAuthenticated: true }, length: copy.length };
}
