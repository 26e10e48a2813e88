import type { Clock } from '../../runtime/clock.ts';
import type { Fault } from '../fault.ts';
import type { Incoming } from '../incoming.ts';
import type { KnownHeads } from '../parse/head-cache.ts';
import type { Ready, Reply } from '../reply.ts';
import type { Turn } from './io-batch.ts';

export type Handle = (request: Incoming, peer: () => string) => Ready | Reply | Promise<Ready | Reply>;

export interface ConnectionOptions {
  handle: Handle;
  /** The words for a request that cannot be read. */
  refuse(fault: Fault): Reply;
  /** Called with an error that leaves no way to answer. The connection is closed. */
  onError(error: unknown): void;
  heads: KnownHeads;
  turn: Turn;
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
