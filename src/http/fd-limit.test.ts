import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { bodyOf, get, open, post, sendAll } from '../../test/support/http/raw-http.ts';
import { eventually } from '../../test/support/program.ts';

const PROGRAM = join(import.meta.dir, '../../test/support/http/bare-server.ts');
const server = Bun.spawn(['bash', '-c', `ulimit -n 100 && exec "${process.execPath}" "${PROGRAM}"`], {
  stdout: 'pipe',
});
let port = 0;
const crowd: Socket[] = [];

beforeAll(async () => {
  const { value } = await server.stdout.getReader().read();
  port = Number(new TextDecoder().decode(value));
});
afterAll(() => {
  for (const socket of crowd) socket.destroy();
  server.kill();
});

test('with more clients than file descriptors, active clients are served and the CPU stays idle', async () => {
  const active = open(port);
  const request = async () => {
    const before = active.got().length;
    active.socket.write(get('/'));
    await eventually(async () => active.got().length > before);
  };
  await request();
  let closed = 0;
  for (let i = 0; i < 300; i++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('close', () => closed++);
    crowd.push(socket);
  }
  await eventually(async () => closed >= 200);
  const usedMs = async () => Number(bodyOf(await sendAll(port, get('/'))));
  const before = await usedMs();
  await Bun.sleep(500);
  expect((await usedMs()) - before).toBeLessThan(100); // a busy accept loop would take all of the 500 ms
  await request();
  expect(active.socket.closed).toBe(false);
  active.socket.destroy();
}, 180_000);

test.each([
  ['read nothing of their responses', get('/large')],
  ['do not send the bodies of their requests', post('/', '', 'Content-Length: 5\r\n')],
])(
  'while clients that %s hold all file descriptors, a new client replaces one of them',
  async (_, bytes) => {
    const isServed = async () => (await sendAll(port, get('/'))).startsWith('HTTP/1.1 200 ');
    for (const socket of crowd.splice(0)) socket.destroy();
    await eventually(isServed);
    for (let i = 0; i < 60; i++) {
      const { socket } = open(port);
      crowd.push(socket);
      socket.write(bytes);
      await new Promise((resolve) => socket.once('data', resolve).once('close', resolve));
      socket.pause();
    }
    await eventually(isServed);
    // Their time limits would have closed all of them at once. The process has a few files of its own.
    expect(readdirSync(`/proc/${server.pid}/fd`).length).toBeGreaterThan(50);
  },
  180_000,
);
