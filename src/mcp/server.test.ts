import { expect, test } from 'bun:test';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { createMcpServer } from './server.ts';

test('clients are not invited to subscribe to lists, which never change', async () => {
  const ask = () => Promise.reject(new Error('nothing is asked'));
  const [theirs, ours] = InMemoryTransport.createLinkedPair();
  await createMcpServer(ask, '1', () => 0).connect(ours);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(theirs);
  expect(client.getServerCapabilities()).toEqual({
    tools: { listChanged: false },
    resources: { listChanged: false },
  });
  await client.close();
});

const RANGE = { from: '2000-01-01', to: '2024-01-01' };

test.each([
  [
    'tool call',
    (client: Client, signal: AbortSignal) =>
      client.callTool({ name: 'price_series', arguments: { symbol: 'XAU', ...RANGE } }, { signal }),
  ],
  [
    'resource',
    (client: Client, signal: AbortSignal) =>
      client.readResource({ uri: 'openpit://series/XAU/2000-01-01/2024-01-01/day/-/-' }, { signal }),
  ],
])('a %s that is cancelled sends no further requests, which would cost units', async (_, send) => {
  const first = Promise.withResolvers<void>();
  const arrival = Promise.withResolvers<void>();
  const asked: string[] = [];
  const ask = async <T>(path: string) => {
    asked.push(path);
    first.resolve();
    await arrival.promise;
    return { rates: [], metadata: {}, next: asked.length < 5 ? 'more' : null } as T;
  };
  const [theirs, ours] = InMemoryTransport.createLinkedPair();
  await createMcpServer(ask, '1', () => 0).connect(ours);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(theirs);
  const cancelling = new AbortController();
  const call = send(client, cancelling.signal);
  await first.promise;
  cancelling.abort();
  await expect(call).rejects.toThrow();
  await client.ping(); // the server has received the cancellation
  arrival.resolve();
  await client.ping();
  expect(asked).toEqual(['/rates/history']);
  await client.close();
});
