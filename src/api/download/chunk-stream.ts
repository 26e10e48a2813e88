export interface ChunkStreamEvents {
  onFailure(error: unknown): void;
  /** Called once: when the last chunk is sent, the client disconnects, or the source fails. */
  onEnd(): void;
}

/** A response body that pulls each chunk when the client has room for it, and closes the source if the client leaves. */
export function chunkStream(
  chunks: AsyncGenerator<Uint8Array>,
  { onFailure, onEnd }: ChunkStreamEvents,
): ReadableStream<Uint8Array> {
  let isCancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (isCancelled) return;
          if (!done) {
            controller.enqueue(value);
            return;
          }
          controller.close();
        } catch (error) {
          onFailure(error);
          if (isCancelled) return;
          onEnd();
          throw error;
        }
        onEnd();
      },
      async cancel() {
        isCancelled = true;
        await chunks.return(undefined);
        onEnd();
      },
    },
    { highWaterMark: 0 },
  );
}
