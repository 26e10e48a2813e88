import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** Connects to `/mcp` of a service as assistants do. */
export async function connectAgent(url: string, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

export async function callTool(client: Client, name: string, args: Record<string, unknown>) {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const [first, ...links] = content as { type: string; text?: string; uri?: string }[];
  return { text: first!.text!, links, isError };
}
