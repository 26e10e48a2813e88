import { createMcpHandler } from '@modelcontextprotocol/server';
import type { AskRates } from '../client/ask.ts';
import { createMcpServer } from './server.ts';

/** A POST request of the protocol's HTTP transport. */
export interface AgentRequest {
  body: string;
  headers: Headers;
  ask: AskRates;
  version: string;
  onError(error: Error): void;
}

/** Answers one request. Nothing is kept between requests, so any replica can answer any of them. */
export function respondToAgent({ body, headers, ask, version, onError }: AgentRequest): Promise<Response> {
  const handler = createMcpHandler(() => createMcpServer(ask, version), {
    onerror: onError,
    maxSubscriptions: 0, // nothing here changes that a client could subscribe to
  });
  return handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
}
