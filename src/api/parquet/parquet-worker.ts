/** Worker that encodes Parquet: a row group takes longer than other requests may wait. */

import { messageOf } from '../../runtime/log/log.ts';
import { lowerPriority } from '../../runtime/threads/lower-priority.ts';
import { ParquetEncoder } from './parquet-encoder.ts';
import type { FromParquet, ToParquet } from './parquet-protocol.ts';

declare const self: Worker;

const encoders = new Map<number, ParquetEncoder>();

self.onmessage = ({ data }: MessageEvent<ToParquet>) => {
  if (data.kind === 'yield') {
    lowerPriority();
    return;
  }
  const { job } = data;
  try {
    const bytes = handle(data);
    if (bytes) post({ kind: 'bytes', job, bytes }, [bytes.buffer]);
  } catch (error) {
    encoders.delete(job);
    post({ kind: 'failed', job, message: messageOf(error) });
  }
};

function handle(message: Exclude<ToParquet, { kind: 'yield' }>): Uint8Array<ArrayBuffer> | undefined {
  const { kind, job } = message;
  if (kind === 'open') {
    encoders.set(job, new ParquetEncoder(message.columns));
    return new Uint8Array(); // `open` is answered, too
  }
  const encoder = encoders.get(job)!;
  if (kind === 'add') return encoder.add(message.ndjson);
  encoders.delete(job);
  return kind === 'finish' ? encoder.finish() : undefined;
}

function post(message: FromParquet, transfer: ArrayBuffer[] = []): void {
  self.postMessage(message, transfer);
}
