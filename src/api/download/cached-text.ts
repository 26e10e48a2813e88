import type { BoundedCache } from '../../runtime/bounded-cache.ts';

/** The bodies of tables that were downloaded more than once, by entity tag, which differs for each encoding. */
export type TableCache = BoundedCache<string, Uint8Array>;

/** No table takes more than this part of the cache. */
const PART_MAX = 0.5;

/** Passes the chunks of a body on. If it is requested for the second time, it is cached once it is complete. */
export async function* keptChunks(
  cache: TableCache,
  etag: string,
  chunks: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (!cache.admits(etag)) return yield* chunks;
  let kept: Uint8Array[] | undefined = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > cache.bytesMax * PART_MAX) kept = undefined;
    kept?.push(chunk);
    yield chunk;
  }
  if (kept) cache.set(etag, Buffer.concat(kept), bytes);
}
