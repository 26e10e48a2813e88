import type { Push, PushOutcome } from '../ledger/pushes.ts';
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
  /** Has the worker take in a push. */
  push(push: Push): Promise<PushOutcome[]>;
  /** Resolves when the worker has closed its ledger. */
  stop(): Promise<void>;
}

/** Starts what brings prices, in a thread and with a ledger handle of its own. */
export function startFeeds(options: FeedsOptions): Feeds {
  const { ledgerUrl, demo, secrets, clockSkewMs = 0 } = options;
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  const ended = Promise.withResolvers<void>();
  const tell = (message: ToWorker) => worker.postMessage(message);
  const waiting = new Map<number, PromiseWithResolvers<PushOutcome[]>>();
  let pushes = 0;
  const settle = (number: number): PromiseWithResolvers<PushOutcome[]> | undefined => {
    const one = waiting.get(number);
    waiting.delete(number);
    return one;
  };

  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if (data.kind === 'written') options.onWritten();
    else if (data.kind === 'progress') options.onProgress(data.done, data.total);
    else if (data.kind === 'ready') options.onReady();
    else if (data.kind === 'error') options.onError(data.message);
    else if (data.kind === 'pushed') settle(data.number)?.resolve(data.outcomes);
    else if (data.kind === 'not-pushed') settle(data.number)?.reject(errorFrom(data.error));
    else ended.resolve();
  };
  worker.onerror = (event) => options.onError(event.message);
  worker.addEventListener('close', () => {
    ended.resolve();
    for (const number of [...waiting.keys()]) settle(number)?.reject(new Error('the feeds have stopped'));
  });
  tell({ kind: 'start', settings: { ledgerUrl, demo, secrets, clockSkewMs } });

  return {
    push(push) {
      const number = ++pushes;
      const one = Promise.withResolvers<PushOutcome[]>();
      waiting.set(number, one);
      tell({ kind: 'push', number, push });
      return one.promise;
    },
    async stop() {
      tell({ kind: 'stop' });
      await ended.promise;
      worker.terminate();
    },
  };
}

/** An error as it was before it came through a message, as far as anybody looks at it. */
function errorFrom({ message, ...codes }: { message: string; code?: string; errno?: string }): Error {
  return Object.assign(new Error(message), codes);
}
