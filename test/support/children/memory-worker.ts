/** Opens shared memory as soon as a signal is at its round, and answers with its id. */
import { openSharedMemory } from '../../../src/gate/burst/shared-memory.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<{ signal: SharedArrayBuffer; round: number; path: string }>) => {
  const signal = new Int32Array(data.signal);
  while (Atomics.load(signal, 0) < data.round);
  self.postMessage(openSharedMemory(data.path, 16).id);
};
