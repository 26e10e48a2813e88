import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { newFolder } from '../../../test/support/ledger.ts';

const OPENER = new URL('../../../test/support/children/memory-worker.ts', import.meta.url);
const ROUNDS = 100;

test('those that create it at the same moment share it', async () => {
  const folder = newFolder();
  const signal = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const workers = [new Worker(OPENER), new Worker(OPENER)];
  let shared = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const ids = workers.map((worker) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      worker.onmessage = ({ data }: MessageEvent<string>) => resolve(data);
      worker.postMessage({ signal, round, path: join(folder, String(round)) });
      return promise;
    });
    await Bun.sleep(1); // both have received it
    Atomics.store(new Int32Array(signal), 0, round);
    if (new Set(await Promise.all(ids)).size === 1) shared++;
  }
  for (const worker of workers) worker.terminate();
  expect(shared).toBe(ROUNDS);
});
