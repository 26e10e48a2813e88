import { Unavailable } from '../../ledger/engine/errors.ts';
import { LedgerLatency } from '../../ledger/engine/latency.ts';
import type { EndedRun } from '../../ledger/operations/feed-runs.ts';
import type { Push, PushOutcome } from '../../ledger/prices/pushes.ts';
import { DEFAULT_RETENTION, type RetentionRules } from '../../ledger/retention/rules.ts';
import type { Secrets } from '../provider.ts';
import { packPush, unpackOutcomes } from './packed-push.ts';
import type { FromWorker, ToWorker } from './protocol.ts';

export interface FeedsOptions {
  ledgerUrl: string;
  /** Whether symbols without real prices get simulated ones. */
  demo: boolean;
  /** Settings that providers need, such as API keys. */
  secrets: Secrets;
  /** How long the ledger keeps what only grows. */
  retention?: RetentionRules;
  /** How long the thread's ledger calls take. */
  latency?: LedgerLatency;
  /** Added to the system's clock, so that a test can choose the time. */
  clockSkewMs?: number;
  /** What runs in the thread, so that a test can have one that dies. */
  script?: URL;
  /** A write is committed: follow it. */
  onWritten(): void;
  /** The first fill: so many symbols of so many are complete. */
  onProgress(done: number, total: number): void;
  /** History and the session so far are there. Said once, also when the thread had to be started again. */
  onReady(): void;
  /** The thread has done a turn of its work. */
  onTurn(): void;
  /** A run of a feed is over, however it ended. */
  onRun?(run: EndedRun): void;
  /** The thread failed as a whole, or has ended and is started again. */
  onFailure(message: string): void;
  /** A feed failed, and will be tried again. */
  onError(message: string): void;
}

export interface Feeds {
  /** Has the worker take in a push. */
  push(push: Push): Promise<PushOutcome[]>;
  /** Resolves when the worker has closed its ledger. One that takes longer than `msMax` is ended; the ledger rolls back. */
  stop(msMax?: number): Promise<void>;
}

/** A thread that dies at once is started again later and later. */
const RESTART_MS = 500;
const RESTART_MS_MAX = 60_000;
const STOP_MS_MAX = 10_000;
/** After so long a thread has proved itself. */
const STEADY_MS = 60_000;

/** Starts what brings prices, in a thread and with a ledger handle of its own. A thread that dies is started again. */
export function startFeeds(options: FeedsOptions): Feeds {
  const thread = new FeedsThread(options);
  thread.start();
  return thread;
}

class FeedsThread implements Feeds {
  readonly #options: FeedsOptions;
  readonly #waiting = new Map<number, PromiseWithResolvers<PushOutcome[]>>();
  #worker: Worker | undefined;
  #startedAt = 0;
  #restartMs = RESTART_MS;
  #restart: ReturnType<typeof setTimeout> | undefined;
  #pushes = 0;
  #isReady = false;
  #stopped: PromiseWithResolvers<void> | undefined;

  constructor(options: FeedsOptions) {
    this.#options = options;
  }

  start(): void {
    const {
      ledgerUrl,
      demo,
      secrets,
      retention = DEFAULT_RETENTION,
      latency = new LedgerLatency(),
      clockSkewMs = 0,
      script,
    } = this.#options;
    this.#startedAt = performance.now();
    const worker = new Worker(script ?? new URL('./worker.ts', import.meta.url));
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#heard(data);
    worker.onerror = (event) => {
      this.#options.onFailure(event.message);
      worker.terminate(); // whatever is left of it, what it holds in memory cannot be trusted
    };
    worker.addEventListener('close', () => this.#onEnd(worker));
    this.#tell({
      kind: 'start',
      settings: { ledgerUrl, demo, secrets, retention, clockSkewMs, latency: latency.memory },
    });
  }

  push(push: Push): Promise<PushOutcome[]> {
    if (!this.#worker) return Promise.reject(away());
    const number = ++this.#pushes;
    const one = Promise.withResolvers<PushOutcome[]>();
    this.#waiting.set(number, one);
    this.#tell({ kind: 'push', number, push: packPush(push) });
    return one.promise;
  }

  async stop(msMax = STOP_MS_MAX): Promise<void> {
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (!worker) return;
    this.#stopped = Promise.withResolvers();
    this.#tell({ kind: 'stop' });
    const timer = setTimeout(() => {
      this.#options.onError(`the feed thread did not stop within ${msMax} ms and was ended`);
      this.#stopped?.resolve();
    }, msMax);
    await this.#stopped.promise;
    clearTimeout(timer);
    worker.terminate();
  }

  #tell(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #heard(data: FromWorker): void {
    const { onWritten, onProgress, onReady, onTurn, onRun, onFailure, onError } = this.#options;
    if (data.kind === 'written') onWritten();
    else if (data.kind === 'progress') onProgress(data.done, data.total);
    else if (data.kind === 'turned') onTurn();
    else if (data.kind === 'ran') onRun?.(data.run);
    else if (data.kind === 'failed') onFailure(data.message);
    else if (data.kind === 'error') onError(data.message);
    else if (data.kind === 'pushed') this.#settle(data.number)?.resolve(unpackOutcomes(data.outcomes));
    else if (data.kind === 'not-pushed') this.#settle(data.number)?.reject(errorFrom(data.error));
    else if (data.kind === 'stopped') this.#stopped?.resolve();
    else if (!this.#isReady) {
      this.#isReady = true;
      onReady();
    }
  }

  #settle(number: number): PromiseWithResolvers<PushOutcome[]> | undefined {
    const one = this.#waiting.get(number);
    this.#waiting.delete(number);
    return one;
  }

  /** What it had taken on and not answered may be written or not: whoever sent it sends it again, which is harmless. */
  #onEnd(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const number of [...this.#waiting.keys()]) this.#settle(number)?.reject(away());
    if (this.#stopped) {
      this.#stopped.resolve();
      return;
    }
    const wasSteady = performance.now() - this.#startedAt > STEADY_MS;
    const waitMs = wasSteady ? RESTART_MS : this.#restartMs;
    this.#restartMs = Math.min(waitMs * 2, RESTART_MS_MAX);
    this.#options.onFailure(`the feeds' thread has ended and is started again in ${waitMs} ms`);
    this.#restart = setTimeout(() => this.start(), waitMs);
  }
}

function away(): Unavailable {
  return new Unavailable('what takes prices in is being started again');
}

/** An error as it was before it came through a message, as far as anybody looks at it. */
function errorFrom({ message, ...codes }: { message: string; code?: string; errno?: string }): Error {
  return Object.assign(new Error(message), codes);
}
