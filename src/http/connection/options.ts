import type { Clock } from '../../runtime/clock.ts';
import type { Fault } from '../message/fault.ts';
import type { IncomingRequest } from '../message/incoming-request.ts';
import type { RawReply, Reply } from '../message/reply.ts';
import type { HeadCache } from '../parse/head-cache.ts';
import type { IoBatch } from './io-batch.ts';

export type Handler = (
  request: IncomingRequest,
  peer: () => string,
) => RawReply | Reply | Promise<RawReply | Reply>;

export interface ConnectionOptions {
  handle: Handler;
  /** The words for a request that cannot be read. */
  refuse(fault: Fault): Reply;
  /** Called with an error that leaves no way to answer. The connection is closed. */
  onError(error: unknown): void;
  heads: HeadCache;
  turn: IoBatch;
  clock: Clock;
  server: ServerState;
  /** A header line for every response of a server that speaks TLS; else empty. */
  securityLine: string;
}

/** What all connections of a server share. */
export interface ServerState {
  /** Goes up by one each second, for what may not last. */
  second: number;
  /** That were answered since the start. */
  requests: number;
  /** Whether every answer is the last of its connection. */
  isClosing: boolean;
}
