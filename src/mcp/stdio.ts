import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { AskRates } from '../client/ask.ts';
import { createMcpServer } from './server.ts';

/** Answers the agent that started this process, until it closes standard input. */
export async function serveAgent(ask: AskRates, version: string, now: () => number): Promise<void> {
  const closed = new Promise<void>((resolve) => process.stdin.once('close', resolve).once('end', resolve));
  const connection = serveStdio(() => createMcpServer(ask, version, now), {
    onerror: (error) => console.error(`openpit mcp: ${error.message}`),
  });
  await closed;
  await connection.close();
}
