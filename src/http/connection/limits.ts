/** Enough for the longest URL and the headers that a browser adds. */
export const HEAD_BYTES_MAX = 16 * 1024;

export const BODY_BYTES_MAX = 1024 * 1024;

const BODY_BYTES_PER_SECOND_MIN = 32 * 1024;

/** Pipelined requests are buffered up to this size. Then the server stops reading from the client. */
export const PIPELINED_BYTES_MAX = 64 * 1024;

/** After this many pipelined requests of one client, the connection checks whether others have waited too long. */
export const REQUESTS_PER_TIME_CHECK = 16;

/** A body that the handler did not read is skipped up to this size. A longer one closes the connection. */
export const SKIPPED_BYTES_MAX = 64 * 1024;

/** What a connection is doing. */
export type ConnectionState = keyof typeof SECONDS_MAX;

/** How long a state may last, in seconds. A body gets more time as it arrives. */
export function secondsMax(state: ConnectionState, bodyLength: number): number {
  return SECONDS_MAX[state] + (state === 'body' ? bodyLength / BODY_BYTES_PER_SECOND_MIN : 0);
}

export const SECONDS_MAX = {
  /** Before the first request. */
  new: 12,
  /** From the first byte of a request to the end of its head, however slowly it arrives. */
  head: 12,
  /** Plus one second for each 32 KB that has arrived. */
  body: 12,
  /** The time limits of the handler are its own. */
  handling: Number.POSITIVE_INFINITY,
  /** While the client reads nothing of its response. */
  blocked: 30,
  /** Longer than the 60 s for which nginx keeps an upstream connection. */
  idle: 75,
  /** After the last response, for the client to stop sending. */
  lingering: 3,
};
