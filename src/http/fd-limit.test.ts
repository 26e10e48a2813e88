import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../../test/support/program.ts';
import { bodyOf, get, open, sendAll } from '../../test/support/raw-http.ts';

const PROGRAM = join(import.meta.dir, '../../test/support/bare-server.ts');
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

test('more clients than there are file descriptors for: who asks is answered, and no time is burnt', async () => {
  const regular = open(port);
  const ask = async () => {
    const before = regular.got().length;
    regular.socket.write(get('/'));
    await eventually(async () => regular.got().length > before);
  };
  await ask();
  let gone = 0;
  for (let i = 0; i < 300; i++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('close', () => gone++);
    crowd.push(socket);
  }
  await eventually(async () => gone >= 200);
  const usedMs = async () => Number(bodyOf(await sendAll(port, get('/'))));
  const before = await usedMs();
  await Bun.sleep(500);
  expect((await usedMs()) - before).toBeLessThan(100); // trying to accept without a pause takes all of the 500 ms
  await ask();
  expect(regular.socket.closed).toBe(false);
  regular.socket.destroy();
}, 180_000);
