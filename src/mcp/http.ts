import { createMcpHandler } from '@modelcontextprotocol/server';
import type { AskRates } from '../client/ask.ts';
import { createMcpServer } from './server.ts';

/** A POST request of the protocol's HTTP transport. */
export interface AgentRequest {
  body: string;
  headers: Headers;
  ask: AskRates;
  version: string;
  now(): number;
  onError(error: Error): void;
}

/**
 * Answers one request. Nothing is kept between requests, so any replica can answer any of them. A batch is refused, as newer
 * versions of the protocol have none: the burst limit counts requests, and a hundred messages take a third of a second.
 */
export async function respondToAgent({
  body,
  headers,
  ask,
  version,
  now,
  onError,
}: AgentRequest): Promise<Response> {
  if (body.trimStart().startsWith('[')) return Response.json(BATCH_REFUSED, { status: 400 });
  const handler = createMcpHandler(() => createMcpServer(ask, version, now), {
    onerror: onError,
    maxSubscriptions: 0, // nothing here changes that a client could subscribe to
  });
  return handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
}

const BATCH_REFUSED = {
  jsonrpc: '2.0',
  error: { code: -32600, message: 'Invalid Request: send one message per request, not a batch' },
  id: null,
};
