import { expect, test } from 'bun:test';
import { BoundedCache } from '../../runtime/bounded-cache.ts';
import { keptChunks, type TableCache } from './cached-text.ts';

const CHUNK_BYTES = 1_000;
const CHUNKS = 40;

async function* table(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < CHUNKS; i++) yield new Uint8Array(CHUNK_BYTES);
}

async function readAll(cache: TableCache, etag: string): Promise<void> {
  let bytes = 0;
  for await (const chunk of keptChunks(cache, etag, table())) bytes += chunk.length;
  expect(bytes).toBe(CHUNKS * CHUNK_BYTES);
}

test('slow downloads together keep no more of their tables than the cache may, and give it back when they end', async () => {
  const cache: TableCache = new BoundedCache({ bytesMax: 100_000 });
  const slow = Array.from({ length: 4 }, (_, i) => keptChunks(cache, `slow ${i}`, table()));
  for (const one of slow) for (let i = 0; i < 24; i++) await one.next();
  await readAll(cache, 'without room');
  expect(cache.has('without room')).toBe(false);
  for (const one of slow) await one.return(undefined);
  await readAll(cache, 'with room');
  expect(cache.has('with room')).toBe(true);
  await readAll(cache, 'the next');
  expect(cache.has('the next')).toBe(true);
});
