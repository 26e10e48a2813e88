import { PooledBuffer } from '../../../http/message/buffer-pool.ts';
import { isParts } from '../../../http/message/serialize.ts';
import { type BoundedCache, copyText } from '../../../runtime/bounded-cache.ts';
import { type Clock, elapsedMs } from '../../../runtime/clock.ts';
import type { ChargedAnswer } from '../request/charged-answer.ts';
import type { Response } from '../request/step.ts';

/** How long an answer can be requested again. Clients give up sooner. */
export const IDEMPOTENCY_SECONDS = 120;

/** Of longer answers, only the entity tag is kept: one of them would evict many others. */
const ANSWER_BYTES_MAX = 1024 * 1024;

/** Objects and headers of a kept answer, measured. */
const OBJECT_BYTES = 1_024;

/** A paid answer, in the bytes that were sent if they are kept, and when, on the monotonic clock. */
export interface KeptAnswer extends ChargedAnswer {
  readonly response: Response | undefined;
  readonly at: number;
}

/** How a request was answered. */
interface Answered extends ChargedAnswer {
  readonly response: Response;
  readonly isCharged: boolean;
}

/**
 * The paid answers to requests with an id of their own. A request that arrives again is answered with the same bytes, free of
 * charge: clients, browsers and gateways repeat requests whose response was lost. Nobody gains by repeating an id on purpose,
 * because the answer does not change.
 */
export class IdempotentAnswers {
  readonly #kept: BoundedCache<string, KeptAnswer>;
  readonly #clock: Clock;
  /** Settled when the request is answered. */
  readonly #pending = new Map<string, Promise<void>>();

  constructor(kept: BoundedCache<string, KeptAnswer>, clock: Clock) {
    this.#kept = kept;
    this.#clock = clock;
  }

  /**
   * Returns the kept answer of a request, or calls `answer`, with what was charged if the answer was too long to be kept. A
   * repeat waits for the request that is under way.
   */
  async once(
    request: string,
    answer: (chargedBefore: ChargedAnswer | undefined) => Promise<Answered>,
  ): Promise<Response> {
    const now = elapsedMs(this.#clock);
    let kept: KeptAnswer | undefined;
    for (;;) {
      kept = this.#find(request, now);
      if (kept?.response) return { ...kept.response };
      const pending = this.#pending.get(request);
      if (!pending) break;
      await pending;
    }
    const answered = Promise.withResolvers<void>();
    this.#pending.set(request, answered.promise);
    try {
      const { response, isCharged, etag } = await answer(kept);
      if (isCharged) this.#keep(request, response, etag, now);
      return response;
    } finally {
      this.#pending.delete(request);
      answered.resolve();
    }
  }

  #find(request: string, now: number): KeptAnswer | undefined {
    const kept = this.#kept.get(request);
    return kept && now - kept.at < IDEMPOTENCY_SECONDS * 1000 ? kept : undefined;
  }

  #keep(request: string, response: Response, etag: string | undefined, at: number): void {
    const length = lengthOf(response);
    if (length === undefined) return;
    const key = copyText(request);
    this.#kept.delete(request);
    const isKept =
      length <= ANSWER_BYTES_MAX &&
      this.#kept.set(key, { response: copyOf(response), etag, at }, length + OBJECT_BYTES);
    if (!isKept) this.#kept.set(key, { response: undefined, etag, at }, OBJECT_BYTES);
  }
}

/** Undefined for a table that is sent in parts: many of them share one text in memory, or it is written while it is sent. */
function lengthOf(response: Response): number | undefined {
  if ('bytes' in response) {
    const { bytes } = response;
    return bytes instanceof PooledBuffer ? bytes.end - bytes.start : bytes.length;
  }
  const { body } = response;
  return body instanceof ReadableStream || isParts(body) ? undefined : Buffer.byteLength(body ?? '');
}

/** A copy that can be sent again. */
function copyOf(response: Response): Response {
  if (!('bytes' in response) || !(response.bytes instanceof PooledBuffer)) return response;
  const { memory, start, end } = response.bytes;
  return {
    status: response.status,
    bytes: Uint8Array.from(memory.subarray(start, end)),
    isAuthenticated: true,
  };
}
