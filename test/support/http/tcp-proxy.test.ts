import { afterEach, beforeEach, expect, test } from 'bun:test';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { TcpProxy } from './tcp-proxy.ts';

let echo: Server;
let heard: string;
let proxy: TcpProxy;
beforeEach(async () => {
  heard = '';
  echo = createServer((socket) => {
    socket.on('data', (bytes) => {
      heard += bytes;
      socket.write(bytes);
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  proxy = await TcpProxy.open((echo.address() as { port: number }).port);
});
afterEach(async () => {
  await proxy.close();
  echo.close();
});

/** Sends a text and returns what was received until the end, a break of the connection, or a timeout. */
async function say(word: string, socket = newSocket(), waitMs = 300): Promise<string> {
  let back = '';
  const done = Promise.withResolvers<void>();
  socket.on('data', (bytes) => {
    back += bytes;
    if (back.length >= word.length) done.resolve();
  });
  socket.on('close', () => {
    back += '|';
    done.resolve();
  });
  socket.write(word);
  await Promise.race([done.promise, Bun.sleep(waitMs)]);
  return back;
}

function newSocket(): Socket {
  return connect(proxy.port, '127.0.0.1').on('error', () => {});
}

test('bytes pass, both ways', async () => {
  expect(await say('hello')).toBe('hello');
  expect(proxy.connections).toBe(1);
});

test('a black hole neither responds nor closes, and a connection that lost bytes stays dead', async () => {
  const socket = newSocket();
  expect(await say('one', socket)).toBe('one');
  proxy.swallow = true;
  expect(await say('two', socket)).toBe('');
  proxy.swallow = false;
  expect(await say('three', socket)).toBe('');
  expect(await say('four')).toBe('four');
  expect(heard).toBe('onefour');
});

test('bytes arrive late, and in order', async () => {
  proxy.delayMs = 100;
  const start = performance.now();
  expect(await say('late', newSocket(), 5_000)).toBe('late');
  expect(performance.now() - start).toBeGreaterThan(190);
});

test('a connection is cut after a number of bytes', async () => {
  proxy.cutAfterBytes = 3;
  expect(await say('hello', newSocket(), 5_000)).toBe('hel|');
});

test('a connection is cut when the server has the request, before its response', async () => {
  proxy.delayMs = 20;
  proxy.cutBehind = (sent) => sent.includes('COMMIT');
  expect(await say('COMMIT', newSocket(), 5_000)).toBe('|');
  while (heard !== 'COMMIT') await Bun.sleep(5);
});

test('open connections are cut, and new ones refused', async () => {
  const socket = newSocket();
  const closed = new Promise((resolve) => socket.on('close', resolve));
  expect(await say('one', socket)).toBe('one');
  proxy.refuse = true;
  proxy.cut();
  await closed;
  expect(await say('two', newSocket(), 5_000)).toBe('|');
});
