import { expect, test } from 'bun:test';
import { bufferPool } from '../message/buffer-pool.ts';
import { IoBatch } from './io-batch.ts';
import { SendQueue } from './send-queue.ts';

const KB = 1_024;

/** A queue whose client accepts everything, with the length of each write and how often it paused. */
function newQueue(accepts = (length: number) => length) {
  const writes: number[] = [];
  const found = { pauses: 0 };
  const socket = {
    write(_: unknown, __?: unknown, length = 0) {
      const sent = accepts(length);
      writes.push(sent);
      return sent;
    },
  };
  const queue = new SendQueue(socket as never, new IoBatch(() => {}), {
    onBlocked() {},
    onPaused: () => found.pauses++,
    onError(error) {
      throw error;
    },
  });
  return { queue, writes, found };
}

const sum = (lengths: readonly number[]) => lengths.reduce((a, b) => a + b, 0);

test('a long response is sent in turns, so that other clients are served in between', () => {
  const { queue, writes, found } = newQueue();
  queue.writeParts(Array.from({ length: 32 }, () => new Uint8Array(130 * KB)));
  expect(sum(writes)).toBeLessThan(2_048 * KB);
  expect(found.pauses).toBe(1);
  expect(queue.isBlocked).toBe(true);
  while (!queue.flush()) expect(sum(writes)).toBeLessThan(32 * 130 * KB);
  expect(sum(writes)).toBe(32 * 130 * KB);
  expect(queue.isBlocked).toBe(false);
});

test('a client that does not accept more is not a pause', () => {
  let room = 100 * KB;
  const { queue, writes, found } = newQueue((length) => {
    const sent = Math.min(room, length);
    room -= sent;
    return sent;
  });
  queue.writeParts([new Uint8Array(200 * KB)]);
  expect([sum(writes), found.pauses, queue.isBlocked]).toEqual([100 * KB, 0, true]);
});

test.each([40 * KB, 400 * KB])(
  'a pooled buffer of %d bytes is released when its client has accepted all of it, or has disconnected',
  (length) => {
    let room = 0;
    const { queue } = newQueue((wanted) => {
      const sent = Math.min(room, wanted);
      room -= sent;
      return sent;
    });
    let released = 0;
    const write = () => {
      const pooled = bufferPool.acquire(length);
      pooled.whenReleased(() => released++);
      queue.writePooled(pooled);
    };
    write();
    queue.flush();
    expect([released, queue.isBlocked]).toEqual([0, true]);
    room = length - 1;
    queue.flush();
    expect([released, queue.isBlocked]).toEqual([0, true]);
    room = 1;
    queue.flush();
    expect([released, queue.isBlocked]).toEqual([1, false]);
    room = 1;
    write();
    queue.flush();
    queue.close(() => {});
    expect(released).toBe(2);
    write();
    expect(released).toBe(3);
  },
);

test('what fits into a turn is sent at once', () => {
  const { queue, writes, found } = newQueue();
  queue.writeParts([new Uint8Array(100 * KB), new Uint8Array(100 * KB)]);
  expect([sum(writes), found.pauses, queue.isBlocked]).toEqual([200 * KB, 0, false]);
});
