import { expect, test } from 'bun:test';
import { get, ManualTime, open, serveHere } from '../../test/support/http/raw-http.ts';
import { eventually } from '../../test/support/program.ts';
import { reply } from './message/reply.ts';

test('a stream that began before the server stops does not end its connection without notice', async () => {
  const time = new ManualTime();
  const started = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const server = serveHere({
    handle: ({ url }) => reply(url === '/stream' ? new ReadableStream({ start: started.resolve }) : url, {}),
    refuse: ({ status }) => reply(null, {}, status),
    time,
  });
  const client = open(server.port);
  client.socket.write(get('/stream'));
  const stream = await started.promise;
  await eventually(async () => client.got().includes('chunked'));
  const stopping = server.stop(10_000);
  stream.close();
  await eventually(async () => client.got().endsWith('0\r\n\r\n'));
  client.socket.write(get('/next'));
  await eventually(async () => client.got().endsWith('/next') || client.socket.closed);
  expect(client.got()).toMatch(/\r\nConnection: close\r\n[\s\S]*\/next$/);
  await client.all;
  await time.pass(10_000);
  await stopping;
});
