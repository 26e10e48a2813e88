import type { BoundedCache } from '../../runtime/bounded-cache.ts';

/** The text of tables that were downloaded more than once, by entity tag, in long chunks. */
export type TableCache = BoundedCache<string, readonly Uint8Array[]>;

/** No table takes more than this part of the cache. */
const PART_MAX = 0.25;
/** Chunks from memory are longer than those that are written while they are sent. */
const CHUNK_BYTES = 256 * 1024;
/** What a chunk takes beside its bytes. */
const CHUNK_OVERHEAD_BYTES = 200;

/** The text of a table, from the cache if it is there. A table is admitted when it is downloaded for the second time. */
export async function* cachedText(
  cache: TableCache,
  etag: string,
  write: () => AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const known = cache.get(etag);
  if (known) return yield* known;
  if (!cache.admits(etag)) return yield* write();
  let kept: Uint8Array[] | undefined = [];
  let bytes = 0;
  for await (const chunk of write()) {
    bytes += chunk.length;
    if (bytes > cache.bytesMax * PART_MAX) kept = undefined;
    kept?.push(chunk);
    yield chunk;
  }
  if (!kept) return;
  const chunks = longChunks(Buffer.concat(kept));
  cache.set(etag, chunks, bytes + chunks.length * CHUNK_OVERHEAD_BYTES);
}

function longChunks(text: Uint8Array): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < text.length; at += CHUNK_BYTES) chunks.push(text.subarray(at, at + CHUNK_BYTES));
  return chunks;
}
