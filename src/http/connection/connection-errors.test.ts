import { afterAll, expect, test } from 'bun:test';
import {
  bodyOf,
  get,
  ManualSeconds,
  open,
  send,
  sendAll,
  serveHere,
} from '../../../test/support/http/raw-http.ts';
import { eventually } from '../../../test/support/program.ts';
import { type Reply, reply } from '../message/reply.ts';

const errors: unknown[] = [];
const time = new ManualSeconds();
const server = serveHere({
  async handle({ url }) {
    if (url === '/no-headers') return { status: 200, body: null } as Reply;
    if (url === '/failing-stream') return reply(failingStream(), {});
    if (url === '/uncancelable') return reply(uncancelable(), {}, 204);
    if (url === '/failing-timer') return { ...reply(url, {}), timer: failingTimer };
    return reply(url, {});
  },
  refuse() {
    throw new Error('refuse failed');
  },
  onError: (error) => errors.push(error),
  everySecond: time.every,
});
afterAll(() => server.stop(0));

function failingStream(): ReadableStream<Uint8Array> {
  let isStarted = false;
  return new ReadableStream({
    pull(controller) {
      if (isStarted) controller.error(new Error('the source failed'));
      else controller.enqueue(Buffer.from('half'));
      isStarted = true;
    },
  });
}

function uncancelable(): ReadableStream<Uint8Array> {
  return new ReadableStream({ cancel: () => Promise.reject(new Error('cannot cancel')) });
}

const failingTimer = {
  add() {
    throw new Error('the timer failed');
  },
};

const FAILURES: readonly [name: string, request: string, message: string][] = [
  ['while a request is parsed', 'not HTTP\r\n\r\n', 'refuse failed'],
  ['while a response is written', get('/no-headers'), 'undefined'],
  ['in the middle of a streamed body', get('/failing-stream'), 'the source failed'],
];

for (const [name, request, message] of FAILURES) {
  test(`an error ${name} is reported once, closes the connection, and does not affect others`, async () => {
    errors.length = 0;
    const received = await send(server.port, request);
    expect(received.endsWith('0\r\n\r\n')).toBe(false); // never looks complete
    expect(errors.map(String)).toEqual([expect.stringContaining(message)]);
    expect(bodyOf(await sendAll(server.port, get('/well')))).toBe('/well');
  });
}

test('an error while a time limit is enforced is reported once, and closes the connection', async () => {
  errors.length = 0;
  const client = open(server.port);
  client.socket.write('GET /incomplete');
  expect(bodyOf(await sendAll(server.port, get('/well')))).toBe('/well');
  time.pass(13);
  expect(await client.all).toBe('');
  expect(errors.map(String)).toEqual(['Error: refuse failed']);
});

for (const [path, message] of [
  ['/uncancelable', 'Error: cannot cancel'],
  ['/failing-timer', 'Error: the timer failed'],
] as const) {
  test(`an error beside the response is reported, and the response is sent: ${message}`, async () => {
    errors.length = 0;
    expect(await sendAll(server.port, get(path))).toStartWith('HTTP/1.1 20');
    await eventually(async () => errors.length > 0);
    expect(errors.map(String)).toEqual([message]);
  });
}
