import { Unavailable } from '../../ledger/engine/errors.ts';
import { unpackError } from './packed-error.ts';
import type { FromReader, LedgerRequest, LedgerResponse, ReaderSettings, ToReader } from './protocol.ts';

export interface ReaderOptions extends ReaderSettings {
  /** What runs in the thread. A test can choose one that dies. */
  script?: URL;
}

/**
 * Far longer than any read takes, also on a busy machine, where readers have the lowest priority. A thread that is silent
 * for so long is stuck, and is replaced.
 */
const READ_MS_MAX = 120_000;
/** How long a thread has for closing its ledger. */
const STOP_MS_MAX = 1_000;

/** One reader thread. It reads for one request at a time, is started by the first, and again by the next after it died. */
export class Reader {
  readonly #options: ReaderOptions;
  #worker: Worker | undefined;
  #running: PromiseWithResolvers<LedgerResponse> | undefined;
  #stopped: PromiseWithResolvers<void> | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  async read(request: LedgerRequest): Promise<LedgerResponse> {
    this.#worker ??= this.#start();
    this.#running = Promise.withResolvers();
    const timer = setTimeout(() => this.#worker?.terminate(), READ_MS_MAX);
    this.#post({ kind: 'read', request });
    try {
      return await this.#running.promise;
    } finally {
      clearTimeout(timer);
      this.#running = undefined;
    }
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    this.#stopped = Promise.withResolvers();
    this.#post({ kind: 'stop' });
    await Promise.race([this.#stopped.promise, Bun.sleep(STOP_MS_MAX)]);
    worker.terminate();
  }

  #start(): Worker {
    const { script, ...settings } = this.#options;
    const worker = new Worker(script ?? new URL('./reader-thread.ts', import.meta.url));
    worker.onmessage = ({ data }: MessageEvent<FromReader>) => this.#heard(data);
    worker.onerror = () => worker.terminate(); // its memory cannot be trusted any more
    worker.addEventListener('close', () => this.#onEnd(worker));
    const start: ToReader = { kind: 'start', settings };
    worker.postMessage(start);
    return worker;
  }

  #post(message: ToReader): void {
    this.#worker?.postMessage(message);
  }

  #heard(data: FromReader): void {
    if (data.kind === 'response') this.#running?.resolve(data.response);
    else if (data.kind === 'failed') this.#running?.reject(unpackError(data.error));
    else this.#stopped?.resolve();
  }

  #onEnd(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#running?.reject(new Unavailable('what reads the past is being started again'));
    this.#stopped?.resolve();
  }
}
