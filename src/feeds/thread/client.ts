import { Unavailable } from '../../ledger/engine/errors.ts';
import { LedgerLatency } from '../../ledger/engine/latency.ts';
import type { EndedRun } from '../../ledger/operations/feed-runs.ts';
import type { Push, PushOutcome } from '../../ledger/prices/pushes.ts';
import { DEFAULT_RETENTION, type RetentionRules } from '../../ledger/retention/rules.ts';
import { fromThreadError } from '../../runtime/threads/thread-error.ts';
import type { Secrets } from '../provider.ts';
import { packPush, unpackOutcomes } from './packed-push.ts';
import type { FromWorker, ToWorker } from './protocol.ts';

export interface FeedsOptions {
  ledgerUrl: string;
  /** Whether symbols without real prices get simulated ones. */
  demo: boolean;
  /** Settings that providers need, such as API keys. */
  secrets: Secrets;
  /** How long the ledger keeps data that only grows. */
  retention?: RetentionRules;
  /** How long the thread's ledger calls take. */
  latency?: LedgerLatency;
  /** Added to the system clock, so that tests can choose the time. */
  clockSkewMs?: number;
  /** The worker's script, so that tests can use one that crashes. */
  script?: URL;
  /** A write was committed: the board should follow. */
  onWritten(): void;
  /** Progress of the initial fill, in symbols. */
  onProgress(done: number, total: number): void;
  /** History and the current session are complete. Called once, even if the thread restarts. */
  onReady(): void;
  /** The thread has finished a turn of its loop. */
  onTurn(): void;
  /** A run of a feed has ended, successfully or not. */
  onRun?(run: EndedRun): void;
  /** The thread's loop failed, or the thread died and restarts. */
  onFailure(message: string): void;
  /** A feed failed and will be retried. */
  onError(message: string): void;
}

export interface Feeds {
  /** Writes a push in the worker. */
  push(push: Push): Promise<PushOutcome[]>;
  /**
   * Rejects pending pushes, because the ledger does not respond. One that is written after all was never
   * acknowledged, so its sender retries it.
   */
  failPushes(): void;
  /** Resolves when the worker has closed its ledger. After `msMax` the worker is terminated; the ledger rolls back. */
  stop(msMax?: number): Promise<void>;
}

/** Exponential backoff for a thread that keeps dying. */
const RESTART_MS = 500;
const RESTART_MS_MAX = 60_000;
const STOP_MS_MAX = 10_000;
/** The backoff starts over after the thread has run for this long. */
const STEADY_MS = 60_000;

/** Starts the feeds in a thread with its own ledger handle. A thread that dies is restarted. */
export function startFeeds(options: FeedsOptions): Feeds {
  const thread = new FeedsThread(options);
  thread.start();
  return thread;
}

class FeedsThread implements Feeds {
  readonly #options: FeedsOptions;
  readonly #pendingPushes = new Map<number, PromiseWithResolvers<PushOutcome[]>>();
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
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#onMessage(data);
    worker.onerror = (event) => {
      this.#options.onFailure(event.message);
      worker.terminate(); // its memory cannot be trusted
    };
    worker.addEventListener('close', () => this.#onEnd(worker));
    this.#post({
      kind: 'start',
      settings: { ledgerUrl, demo, secrets, retention, clockSkewMs, latency: latency.memory },
    });
  }

  push(push: Push): Promise<PushOutcome[]> {
    if (!this.#worker) return Promise.reject(restarting());
    const number = ++this.#pushes;
    const pending = Promise.withResolvers<PushOutcome[]>();
    this.#pendingPushes.set(number, pending);
    this.#post({ kind: 'push', number, push: packPush(push) });
    return pending.promise;
  }

  failPushes(): void {
    this.#rejectPending(new Unavailable('its ledger cannot be reached'));
  }

  async stop(msMax = STOP_MS_MAX): Promise<void> {
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (!worker) return;
    this.#stopped = Promise.withResolvers();
    this.#post({ kind: 'stop' });
    const timer = setTimeout(() => {
      this.#options.onError(`the feed thread did not stop within ${msMax} ms and was terminated`);
      this.#stopped?.resolve();
    }, msMax);
    await this.#stopped.promise;
    clearTimeout(timer);
    worker.terminate();
  }

  #post(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #onMessage(data: FromWorker): void {
    const { onWritten, onProgress, onReady, onTurn, onRun, onFailure, onError } = this.#options;
    switch (data.kind) {
      case 'written':
        onWritten();
        break;
      case 'progress':
        onProgress(data.done, data.total);
        break;
      case 'ready':
        if (this.#isReady) break;
        this.#isReady = true;
        onReady();
        break;
      case 'turned':
        onTurn();
        break;
      case 'ran':
        onRun?.(data.run);
        break;
      case 'failed':
        onFailure(data.message);
        break;
      case 'error':
        onError(data.message);
        break;
      case 'pushed':
        this.#takePending(data.number)?.resolve(unpackOutcomes(data.outcomes));
        break;
      case 'not-pushed':
        this.#takePending(data.number)?.reject(fromThreadError(data.error));
        break;
      case 'stopped':
        this.#stopped?.resolve();
        break;
      default:
        data satisfies never;
    }
  }

  #takePending(number: number): PromiseWithResolvers<PushOutcome[]> | undefined {
    const pending = this.#pendingPushes.get(number);
    this.#pendingPushes.delete(number);
    return pending;
  }

  /** Pending pushes may have been written or not; sending them again is harmless. */
  #rejectPending(error: Unavailable): void {
    for (const number of [...this.#pendingPushes.keys()]) this.#takePending(number)?.reject(error);
  }

  #onEnd(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#rejectPending(restarting());
    if (this.#stopped) {
      this.#stopped.resolve();
      return;
    }
    const wasSteady = performance.now() - this.#startedAt > STEADY_MS;
    const waitMs = wasSteady ? RESTART_MS : this.#restartMs;
    this.#restartMs = Math.min(waitMs * 2, RESTART_MS_MAX);
    this.#options.onFailure(`the feed thread died and restarts in ${waitMs} ms`);
    this.#restart = setTimeout(() => this.start(), waitMs);
  }
}

function restarting(): Unavailable {
  return new Unavailable('the feed thread is restarting');
}
