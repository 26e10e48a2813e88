/** Room for the longest URL and what a browser adds. */
export const HEAD_BYTES_MAX = 16 * 1024;

export const BODY_BYTES_MAX = 1024 * 1024;

const BODY_BYTES_PER_SECOND_MIN = 32 * 1024;

/** What may arrive before its turn; then the client is not read from until it is. */
export const AHEAD_BYTES_MAX = 64 * 1024;

/** After so many requests that one client has sent ahead, the time is looked at: others wait. */
export const REQUESTS_A_LOOK = 16;

/** A body that nobody wanted is skipped when it is no longer than this, and else the connection is closed. */
export const SKIPPED_BYTES_MAX = 64 * 1024;

/** What a connection may be doing. */
export type ConnectionState = keyof typeof SECONDS_MAX;

/** For how many seconds a state may last; a body that comes earns itself time. */
export function secondsMax(state: ConnectionState, bodyLength: number): number {
  return SECONDS_MAX[state] + (state === 'body' ? bodyLength / BODY_BYTES_PER_SECOND_MIN : 0);
}

const SECONDS_MAX = {
  /** Nothing was ever asked on it. */
  new: 12,
  /** From a request's first byte to the end of its head, however slowly it drips. */
  head: 12,
  /** And a second more for each 32 KB that has come. */
  body: 12,
  /** What takes long is the service's own affair. */
  answering: Number.POSITIVE_INFINITY,
  /** Without the client taking anything of its answer. */
  stuck: 30,
  /** Longer than the minute for which nginx keeps its own end. */
  idle: 75,
  /** After the last word, for the client to stop sending. */
  lingering: 3,
};
