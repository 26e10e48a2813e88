import type { IncomingRequest } from './incoming-request.ts';
import type { RawReply, Reply } from './reply.ts';

/** Responds to a request. `peer` is the client's address, or empty once the client has disconnected. */
export type Handler = (
  request: IncomingRequest,
  peer: () => string,
) => RawReply | Reply | Promise<RawReply | Reply>;
