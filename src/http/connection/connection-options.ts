import type { Clock } from '../../runtime/clock.ts';
import type { Fault } from '../message/fault.ts';
import type { Handler } from '../message/handler.ts';
import type { Reply } from '../message/reply.ts';
import type { HeaderCache } from '../parse/header-cache.ts';
import type { IoBatch } from './io-batch.ts';

export interface ConnectionOptions {
  handle: Handler;
  /** Builds the response to a request that cannot be parsed, or whose handler threw. */
  refuse(fault: Fault): Reply;
  /** Called with an error after which no response is possible. The connection is closed. */
  onError(error: unknown): void;
  headers: HeaderCache;
  batch: IoBatch;
  clock: Clock;
  server: ServerState;
  /** Header lines of every response of a server that uses TLS, each with its line end; otherwise empty. */
  securityLines: string;
}

/** Shared by all connections of a server. */
export interface ServerState {
  /** Incremented every second. Time limits are measured with it. */
  second: number;
  /** Requests received since the start. */
  requests: number;
  /** Whether every response closes its connection. */
  isClosing: boolean;
}
