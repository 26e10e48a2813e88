import type { FromWorker, ToWorker } from './protocol.ts';
import type { Secrets } from './provider.ts';

export interface FeedsOptions {
  ledgerUrl: string;
  /** Whether symbols without real prices get simulated ones. */
  demo: boolean;
  /** Settings that providers need, such as API keys. */
  secrets: Secrets;
  /** Added to the system's clock, so that a test can choose the time. */
  clockSkewMs?: number;
  /** A write is committed: follow it. */
  onWritten(): void;
  /** The first fill: so many symbols of so many are complete. */
  onProgress(done: number, total: number): void;
  /** History and the session so far are there. */
  onReady(): void;
  /** Something failed, and will be tried again. */
  onError(message: string): void;
}

export interface Feeds {
  /** Resolves when the worker has closed its ledger. */
  stop(): Promise<void>;
}

/** Starts what brings prices, in a thread and with a ledger handle of its own. */
export function startFeeds(options: FeedsOptions): Feeds {
  const { ledgerUrl, demo, secrets, clockSkewMs = 0 } = options;
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  const ended = Promise.withResolvers<void>();
  const tell = (message: ToWorker) => worker.postMessage(message);

  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if (data.kind === 'written') options.onWritten();
    else if (data.kind === 'progress') options.onProgress(data.done, data.total);
    else if (data.kind === 'ready') options.onReady();
    else if (data.kind === 'error') options.onError(data.message);
    else ended.resolve();
  };
  worker.onerror = (event) => options.onError(event.message);
  worker.addEventListener('close', () => ended.resolve());
  tell({ kind: 'start', settings: { ledgerUrl, demo, secrets, clockSkewMs } });

  return {
    async stop() {
      tell({ kind: 'stop' });
      await ended.promise;
      worker.terminate();
    },
  };
}
