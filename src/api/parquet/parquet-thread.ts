import { Unavailable } from '../../ledger/engine/errors.ts';
import type { FlatColumn } from '../model/table.ts';
import type { FromParquet, ToParquet } from './parquet-protocol.ts';

/** Encodes tables as Parquet in its own thread, which starts with the first table, and again after a crash. */
export class ParquetThread {
  readonly #yieldsToOthers: boolean;
  #worker: Worker | undefined;
  #jobs = 0;
  /** By job: its message that has no answer yet. */
  readonly #pending = new Map<number, PromiseWithResolvers<Uint8Array>>();

  /** `yieldsToOthers` lowers the priority of the thread: in a server, requests come first. */
  constructor({ yieldsToOthers }: { yieldsToOthers: boolean }) {
    this.#yieldsToOthers = yieldsToOthers;
  }

  /** Returns the file in pieces. It takes rows only as fast as they are encoded. */
  async *encode(
    columns: readonly FlatColumn[],
    ndjson: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    const job = ++this.#jobs;
    let isFinished = false;
    try {
      let encoded = this.#ask({ kind: 'open', job, columns });
      for await (const chunk of ndjson) {
        const bytes = await encoded;
        const ndjson = new Uint8Array(chunk); // a copy, because the chunk may be cached
        encoded = this.#ask({ kind: 'add', job, ndjson }, [ndjson.buffer]);
        if (bytes.length > 0) yield bytes;
      }
      yield await encoded;
      yield await this.#ask({ kind: 'finish', job });
      isFinished = true;
    } finally {
      if (!isFinished) this.#worker?.postMessage({ kind: 'abort', job } satisfies ToParquet);
    }
  }

  stop(): void {
    this.#worker?.terminate();
  }

  #ask(message: Extract<ToParquet, { job: number }>, transfer: ArrayBuffer[] = []): Promise<Uint8Array> {
    this.#worker ??= this.#start();
    const answer = Promise.withResolvers<Uint8Array>();
    answer.promise.catch(() => {}); // the caller may await it later; until then it must not count as unhandled
    this.#pending.set(message.job, answer);
    this.#worker.postMessage(message, transfer);
    return answer.promise;
  }

  #start(): Worker {
    const worker = new Worker(new URL('./parquet-worker.ts', import.meta.url));
    worker.onmessage = ({ data }: MessageEvent<FromParquet>) => this.#onMessage(data);
    worker.onerror = () => worker.terminate(); // its state is unknown after an uncaught error
    worker.addEventListener('close', () => this.#onClose(worker));
    if (this.#yieldsToOthers) worker.postMessage({ kind: 'yield' } satisfies ToParquet);
    return worker;
  }

  #onMessage(data: FromParquet): void {
    const answer = this.#pending.get(data.job);
    this.#pending.delete(data.job);
    if (data.kind === 'bytes') answer?.resolve(data.bytes);
    else answer?.reject(new Error(`a table cannot be encoded as Parquet: ${data.message}`));
  }

  #onClose(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const answer of this.#pending.values())
      answer.reject(new Unavailable('its Parquet encoder is restarting'));
    this.#pending.clear();
  }
}
