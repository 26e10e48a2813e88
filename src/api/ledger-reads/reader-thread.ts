import { Unavailable } from '../../ledger/engine/errors.ts';
import { unpackError } from './packed-error.ts';
import type { FromReader, LedgerRequest, LedgerResponse, ReaderSettings, ToReader } from './protocol.ts';

export interface ReaderThreadOptions extends ReaderSettings {
  /** The worker's script. Tests pass one that can die. */
  script?: URL;
}

/**
 * Reads have a low priority, so this is far longer than any of them takes, even on a busy machine. A thread that does
 * not respond for this long is stuck and is replaced.
 */
const READ_MS_MAX = 120_000;
/** How long a thread may take to close its ledger. */
const STOP_MS_MAX = 1_000;

/** Handle of one reader thread, which serves one request at a time. The worker starts on demand, and again after it died. */
export class ReaderThread {
  readonly #options: ReaderThreadOptions;
  #worker: Worker | undefined;
  #running: PromiseWithResolvers<LedgerResponse> | undefined;
  #stopped: PromiseWithResolvers<void> | undefined;

  constructor(options: ReaderThreadOptions) {
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
    const worker = new Worker(script ?? new URL('./reader-worker.ts', import.meta.url));
    worker.onmessage = ({ data }: MessageEvent<FromReader>) => this.#onMessage(data);
    worker.onerror = () => worker.terminate(); // its state is unknown after an uncaught error
    worker.addEventListener('close', () => this.#onClose(worker));
    const start: ToReader = { kind: 'start', settings };
    worker.postMessage(start);
    return worker;
  }

  #post(message: ToReader): void {
    this.#worker?.postMessage(message);
  }

  #onMessage(data: FromReader): void {
    if (data.kind === 'response') this.#running?.resolve(data.response);
    else if (data.kind === 'failed') this.#running?.reject(unpackError(data.error));
    else this.#stopped?.resolve();
  }

  #onClose(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#running?.reject(new Unavailable('its ledger reader is restarting'));
    this.#stopped?.resolve();
  }
}
