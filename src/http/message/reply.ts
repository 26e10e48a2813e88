import type { PooledBuffer } from './buffer-pool.ts';

/** Receives the duration of a request, from the arrival of its first byte until its response was handed to the system. */
export interface RequestTimer {
  add(ms: number): void;
}

/** A response that the server still has to serialize. */
export interface Reply {
  readonly status: number;
  /** Without `Date`, `Content-Length` and `Transfer-Encoding`, which the server adds. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Parts are sent without a copy, so they must never change. A stream is sent chunk by chunk, as fast as the client reads
   * it.
   */
  readonly body: string | Uint8Array | readonly Uint8Array[] | ReadableStream<Uint8Array> | null;
  readonly timer?: RequestTimer;
  /** Whether the client is authenticated. Only then its head is cached. */
  readonly isAuthenticated?: boolean;
  /** The length of a stream in bytes, if it is known. */
  readonly length?: number | undefined;
  /** Whether a stream lasts until the client disconnects. Any other is sent to its end, even if the client has stopped sending. */
  readonly isEndless?: boolean;
}

/** A response as it goes over the wire, head included. */
export interface RawReply {
  readonly status: number;
  /** A pooled buffer is taken by the server, so it can be sent once. Other bytes must never change. */
  readonly bytes: PooledBuffer | Uint8Array;
  timer?: RequestTimer | undefined;
  /** Whether the client is authenticated. Only then its head is cached. */
  readonly isAuthenticated?: boolean;
}

export function reply(
  body: Reply['body'],
  headers: Readonly<Record<string, string>>,
  status: number = 200,
  length?: number,
): Reply {
  return { status, headers, body, length };
}
