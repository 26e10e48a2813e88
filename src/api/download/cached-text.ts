import type { BoundedCache } from '../../runtime/bounded-cache.ts';

/** The bodies of tables that were downloaded more than once, by entity tag, which differs for each encoding. */
export type TableCache = BoundedCache<string, Uint8Array>;

/** No table takes more than this part of the cache. */
const PART_MAX = 0.5;

/** What the downloads in progress hold of tables that may be cached, in bytes. A slow client needs minutes for its table. */
const pendingBytes = new WeakMap<TableCache, number>();

/**
 * Passes the chunks of a body on. If it is requested for the second time, it is cached once it is complete, unless the
 * downloads in progress would hold more than the cache may.
 */
export async function* keptChunks(
  cache: TableCache,
  etag: string,
  chunks: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (!cache.admits(etag)) return yield* chunks;
  let kept: Uint8Array[] | undefined = [];
  let bytes = 0;
  const hold = (more: number) => {
    bytes += more;
    pendingBytes.set(cache, (pendingBytes.get(cache) ?? 0) + more);
  };
  try {
    for await (const chunk of chunks) {
      if (kept) hold(chunk.length);
      if (bytes > cache.bytesMax * PART_MAX || pendingBytes.get(cache)! > cache.bytesMax) {
        kept = undefined;
        hold(-bytes);
      }
      kept?.push(chunk);
      yield chunk;
    }
    if (kept) cache.set(etag, Buffer.concat(kept), bytes);
  } finally {
    hold(-bytes); // also if the client has left
  }
}
