import { describe, expect, test } from 'bun:test';
import { BufferPool, type PooledBuffer } from './buffer-pool.ts';

const MEGABYTE = 1024 * 1024;

const bufferPool = new BufferPool();

function release(buffer: PooledBuffer): ArrayBuffer {
  const { buffer: memory } = buffer.take();
  buffer.release();
  return memory;
}

describe('a pooled buffer', () => {
  test('can be taken once: the second time throws, and the holder can no longer read it', () => {
    const buffer = bufferPool.acquire(4_320);
    buffer.memory.fill(1);
    expect(buffer.take()[0]).toBe(1);
    expect(() => buffer.take()).toThrow('used after it was taken');
    expect(() => buffer.memory).toThrow('used after it was taken');
    expect(() => buffer.crop(0, 1)).toThrow('used after it was taken');
    expect(() => buffer.takeWhole()).toThrow('used after it was taken');
  });

  test('returns to the pool once, after it was taken', () => {
    const buffer = bufferPool.acquire(4_321);
    expect(() => buffer.release()).toThrow('without being taken');
    const { size } = bufferPool;
    buffer.take();
    buffer.release();
    expect(bufferPool.size).toBe(size + 1);
    expect(() => buffer.release()).toThrow('without being taken');
    expect(() => buffer.memory).toThrow('used after it was taken');
    expect(bufferPool.size).toBe(size + 1);
  });

  test('gives the part it is cropped to, and returns as a whole', () => {
    const buffer = bufferPool.acquire(4_323);
    const { buffer: memory } = buffer.memory;
    buffer.memory.latin1Write('head and body', 0);
    buffer.crop(5, 8);
    expect(buffer.take().toString('latin1')).toBe('and');
    buffer.release();
    const next = bufferPool.acquire(4_323);
    expect(next.memory.buffer).toBe(memory);
    expect(next.take()).toHaveLength(4_323);
  });

  test('can be made of memory of another origin', () => {
    const memory = Buffer.alloc(4_324) as ReturnType<PooledBuffer['take']>;
    release(bufferPool.adopt(memory));
    expect(bufferPool.acquire(4_324).memory.buffer).toBe(memory.buffer);
  });
});

describe('the pool', () => {
  test('reuses the memory of a response for one of about its length, and gives exactly the bytes that were asked for', () => {
    const memory = release(bufferPool.acquireRounded(5_000));
    const next = bufferPool.acquireRounded(4_900);
    expect(next.memory.buffer).toBe(memory);
    expect([next.start, next.end]).toEqual([0, 4_900]);
    expect(next.take()).toHaveLength(4_900);
  });

  test('gives released memory to one later owner of the same length at a time', () => {
    const [one, two] = [bufferPool.acquire(4_325), bufferPool.acquire(4_325)];
    const released = [release(one), release(two)];
    expect(released[0]).not.toBe(released[1]!);
    const next = Array.from({ length: 3 }, () => bufferPool.acquire(4_325).memory);
    const memory = next.map(({ buffer }) => buffer);
    expect(new Set(memory).size).toBe(3);
    expect(memory).toContain(released[0]!);
    expect(memory).toContain(released[1]!);
    for (const { length } of next) expect(length).toBe(4_325);
  });

  test('holds up to four megabytes by default', () => {
    const all = Array.from({ length: 9 }, () => bufferPool.acquire(MEGABYTE));
    const released = new Set(all.map(release));
    const next = Array.from({ length: 9 }, () => bufferPool.acquire(MEGABYTE).memory.buffer);
    const reused = next.filter((buffer) => released.has(buffer)).length;
    expect(reused).toBeGreaterThanOrEqual(1);
    expect(reused).toBeLessThanOrEqual(4);
  });

  test('does not hold a buffer longer than that, and evicts nothing for it', () => {
    const short = release(bufferPool.acquire(77));
    const long = release(bufferPool.acquire(5 * MEGABYTE));
    expect(bufferPool.acquire(5 * MEGABYTE).memory.buffer).not.toBe(long);
    expect(bufferPool.acquire(77).memory.buffer).toBe(short);
  });
});
