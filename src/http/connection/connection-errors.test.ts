import { afterAll, expect, test } from 'bun:test';
import { bodyOf, get, send, sendAll, serveHere } from '../../../test/support/raw-http.ts';
import { type Reply, reply } from '../message/reply.ts';

const errors: unknown[] = [];
const server = serveHere({
  async handle({ url }) {
    if (url === '/no-headers') return { status: 200, body: null } as Reply;
    if (url === '/breaks-off') return reply(breaksOff(), {});
    return reply(url, {});
  },
  refuse() {
    throw new Error('refuse failed');
  },
  onError: (error) => errors.push(error),
});
afterAll(() => server.stop(0));

function breaksOff(): ReadableStream<Uint8Array> {
  let isStarted = false;
  return new ReadableStream({
    pull(controller) {
      if (isStarted) controller.error(new Error('the source failed'));
      else controller.enqueue(Buffer.from('half'));
      isStarted = true;
    },
  });
}

const FAILURES: readonly [name: string, request: string, message: string][] = [
  ['while a request is read', 'not HTTP\r\n\r\n', 'refuse failed'],
  ['while a response is written', get('/no-headers'), 'undefined'],
  ['in the middle of a streamed body', get('/breaks-off'), 'the source failed'],
];

for (const [name, request, message] of FAILURES) {
  test(`an error ${name} is reported once, closes the connection, and the server goes on`, async () => {
    errors.length = 0;
    const received = await send(server.port, request);
    expect(received.endsWith('0\r\n\r\n')).toBe(false); // never looks complete
    expect(errors.map(String)).toEqual([expect.stringContaining(message)]);
    expect(bodyOf(await sendAll(server.port, get('/well')))).toBe('/well');
  });
}
