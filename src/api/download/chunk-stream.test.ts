import { expect, test } from 'bun:test';
import { chunkStream } from './chunk-stream.ts';

/** A stream of chunks, with what it has reported. */
function streamOf(chunks: () => AsyncGenerator<Uint8Array>) {
  const events: string[] = [];
  const stream = chunkStream(chunks(), {
    onFailure: (error) => events.push(`failure: ${(error as Error).message}`),
    onEnd: () => events.push('end'),
  });
  return { reader: stream.getReader(), events };
}

test('a client that leaves while a chunk is made is no failure, and the source is closed', async () => {
  const next = Promise.withResolvers<void>();
  let isClosed = false;
  const { reader, events } = streamOf(async function* () {
    try {
      yield new Uint8Array(1);
      await next.promise;
      yield new Uint8Array(2);
    } finally {
      isClosed = true;
    }
  });
  expect((await reader.read()).value).toHaveLength(1);
  const pending = reader.read();
  await Bun.sleep(0); // the source is asked for the chunk
  const left = reader.cancel();
  next.resolve();
  await left;
  expect((await pending).done).toBe(true);
  await Bun.sleep(0);
  expect(isClosed).toBe(true);
  expect(events).toEqual(['end']);
});

test('a source that fails is reported once, and the stream fails', async () => {
  const { reader, events } = streamOf(async function* () {
    yield new Uint8Array(1);
    throw new Error('no more');
  });
  await reader.read();
  await expect(reader.read()).rejects.toThrow('no more');
  expect(events).toEqual(['failure: no more', 'end']);
});

test('a complete stream ends once', async () => {
  const { reader, events } = streamOf(async function* () {
    yield new Uint8Array(1);
  });
  await reader.read();
  expect((await reader.read()).done).toBe(true);
  await reader.cancel();
  expect(events).toEqual(['end']);
});
