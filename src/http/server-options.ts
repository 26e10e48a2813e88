import type { Clock } from '../runtime/clock.ts';
import type { Fault } from './message/fault.ts';
import type { Handler } from './message/handler.ts';
import type { Reply } from './message/reply.ts';
import type { HeaderCache } from './parse/header-cache.ts';
import type { Credentials } from './tls/credentials.ts';

/** What both HTTP servers need: `serve` on Bun's sockets and `serveWithBun` on `Bun.serve`. */
export interface ServerOptions {
  hostname: string;
  port: number;
  /** Whether other processes of this machine may listen on the same port. */
  isShared: boolean;
  /** For the `Date` header. */
  clock: Clock;
  handle: Handler;
  /** Builds the response to a request that cannot be parsed, or whose handler threw. */
  refuse(fault: Fault): Reply;
  /** When the bytes being read now arrived, in ms of `performance.now()`; now by default. */
  arrivalMs?: () => number;
  /** Called with every unexpected error: a bug, or a response stream that failed. The connection is closed. */
  onError(error: unknown): void;
  /** Calls `sweep` once a second until the returned function is called. Tests inject their own. */
  everySecond?: (sweep: () => void) => () => void;
  /** The time that a drain measures. Tests inject their own. */
  time?: DrainTime;
  /** Parsed header lines of earlier requests. */
  headers?: HeaderCache;
  /** Serves HTTPS with these, plain HTTP without. */
  tls?: Credentials | undefined;
}

export interface DrainTime {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

export interface HttpServer {
  readonly port: number;
  /** Uses a renewed certificate for new connections. Throws if that is impossible; the earlier one stays in use then. */
  setCredentials(credentials: Credentials): void;
  /** Stops accepting connections, and waits up to `limitMs` for requests in progress. */
  stop(limitMs: number): Promise<void>;
}

/** Tells browsers to use only HTTPS for this host, until a year after their last visit. */
export const HSTS_HEADERS = { 'Strict-Transport-Security': 'max-age=31536000' };
