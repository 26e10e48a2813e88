import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { AskRates } from '../client/ask.ts';
import { createMcpServer } from './server.ts';
import { StdioTransport } from './stdio-transport.ts';

/** Answers the agent that started this process, until it closes standard input and every request is answered. */
export async function serveAgent(ask: AskRates, version: string, now: () => number): Promise<void> {
  const transport = new StdioTransport();
  const connection = serveStdio(() => createMcpServer(ask, version, now), {
    transport,
    onerror: (error) => console.error(`openpit mcp: ${error.message}`),
  });
  await transport.closed;
  await connection.close();
}
