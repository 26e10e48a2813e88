import type { LedgerLatency } from '../../ledger/engine/latency.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { Push } from '../../ledger/prices/pushes.ts';
import { DEFAULT_RETENTION, type RetentionRules } from '../../ledger/retention/rules.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { processName } from '../../runtime/process-name.ts';
import { toThreadError } from '../../runtime/threads/thread-error.ts';
import { Closer } from '../close/closer.ts';
import { Pruner } from '../close/pruner.ts';
import { sleep, systemRuntime } from '../fetch/runtime.ts';
import type { Provider, Secrets } from '../provider.ts';
import { newReport, type RunResult } from '../run/run-record.ts';
import { Simulator } from '../simulator/simulator.ts';
import { DueFeeds } from './due-feeds.ts';
import { packOutcomes } from './packed-push.ts';
import type { FromWorker } from './protocol.ts';
import { PushWriter } from './push-writer.ts';

/** Simulated ticks are due at any second. */
const TURN_MS = 1_000;
/** How often the periodic tasks run. A bar is published at most this long after its session's end. */
const MAINTENANCE_MS = 10_000;
const PRUNE_MS = 3_600_000;
/** A statement that is still in progress this long after a stop is interrupted: on a busy disk, deleting a batch may take seconds. */
const INTERRUPT_AFTER_MS = 1_000;
const MAINTENANCE_BUDGET_MS = 500;

/** The providers whose feeds may be enabled, and the settings that they need. */
export interface ProviderSetup {
  providers: readonly Provider[];
  secrets: Secrets;
}

export interface FeedLoopOptions {
  ledgerUrl: string;
  /** Whether symbols without real prices get simulated ones. */
  demo?: boolean;
  clock: Clock;
  /** Sends a message to the serving thread. */
  post(message: FromWorker): void;
  setup?: ProviderSetup;
  retention?: RetentionRules;
  /** Measures the ledger calls. */
  latency?: LedgerLatency;
  /** Closing, pruning and deleting old rows each stop after this time and continue in the next turn. */
  maintenanceBudgetMs?: number;
}

/** Parts with state of one ledger epoch. After a restore they are replaced, because their state is wrong. */
interface EpochParts {
  epoch: string;
  simulator: Simulator;
  closer: Closer;
  pruner: Pruner;
  due: DueFeeds;
}

/**
 * The work of the feed thread, one turn after the other:
 *
 *     open the ledger ─► checkpoint ─► fill history ─► ticks due ─► start due feeds ─► close days ─► prune ticks and old rows
 *                        every 1 s      every 10 s      every 1 s     every 10 s         every 10 s     every hour
 *
 * History comes before closing: the bar of a simulated day comes from the random walk, even if some of its ticks were never
 * written. If the disk is full, only the checkpoint is done. Feed runs are concurrent: ticks do not wait for a slow provider.
 */
export class FeedLoop {
  readonly #options: FeedLoopOptions;
  readonly #post: (message: FromWorker) => void;
  readonly #stopping = new AbortController();
  #interrupting: ReturnType<typeof setTimeout> | undefined;
  #opening: Promise<Ledger> | undefined;
  readonly #pushes = new Set<Promise<unknown>>();
  readonly #writer = new PushWriter(() => this.#openLedger());
  #epochParts: EpochParts | undefined;
  #maintainedAt = Number.NEGATIVE_INFINITY;
  #prunedAt = Number.NEGATIVE_INFINITY;
  /** When all old rows were deleted. Looking for them reads whole tables: once an hour, even if closing is behind for minutes. */
  #retentionDoneAt = Number.NEGATIVE_INFINITY;
  #isReady = false;
  /** Whether closing or pruning stopped at the end of its budget, with more to do. */
  #isBehind = false;

  constructor(options: FeedLoopOptions) {
    this.#options = options;
    this.#post = options.post;
  }

  /** Runs until stopped, then closes the ledger. Reports a failed turn; the next turn tries again. */
  async run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.turn();
        this.#post({ kind: 'turned' });
      } catch (error) {
        this.#isBehind = false; // wait before the next attempt
        if (!this.#stopping.signal.aborted) this.#post({ kind: 'failed', message: messageOf(error) });
      }
      await sleep(this.#isBehind ? 0 : TURN_MS, this.#stopping.signal);
    }
    clearTimeout(this.#interrupting);
    await this.#epochParts?.due.settled();
    await Promise.allSettled(this.#pushes);
    await this.#opening?.then((ledger) => ledger.close()).catch(() => {});
    this.#post({ kind: 'stopped' });
  }

  stop(): void {
    this.#stopping.abort();
    this.#interrupting = setTimeout(() => {
      void this.#opening?.then(({ engine }) => engine.interrupt()).catch(() => {});
    }, INTERRUPT_AFTER_MS);
  }

  /** Writes a push, concurrently with the turns, and posts the outcome. */
  async push(number: number, push: Push): Promise<void> {
    const writing = this.#writer.write(push);
    this.#pushes.add(writing);
    try {
      const outcomes = await writing;
      this.#post({ kind: 'pushed', number, outcomes: packOutcomes(outcomes) });
      this.#post({ kind: 'written' });
    } catch (error) {
      this.#post({ kind: 'not-pushed', number, error: toThreadError(error) });
    }
    this.#pushes.delete(writing);
  }

  #openLedger(): Promise<Ledger> {
    if (!this.#opening) {
      const { ledgerUrl, clock, latency } = this.#options;
      this.#opening = Ledger.open(ledgerUrl, clock, 'feeding', { latency });
      this.#opening.catch(() => {
        this.#opening = undefined; // the next turn tries again
      });
    }
    return this.#opening;
  }

  async turn(): Promise<void> {
    const { clock, demo } = this.#options;
    const now = clock.now();
    // Also after the clock was set back.
    const isMaintenanceDue = Math.abs(now - this.#maintainedAt) >= MAINTENANCE_MS;
    const ledger = await this.#openLedger();
    await ledger.engine.checkpoint();
    if (isMaintenanceDue) await ledger.engine.reserveDiskSpace();
    if (!ledger.engine.hasDiskSpace()) return; // the service raises the alarm
    if (isMaintenanceDue) this.#epochParts = await this.#partsOf(ledger);
    const { simulator } = this.#epochParts!;
    if (demo) {
      if (isMaintenanceDue) await simulator.fillHistory(now, this.#onFilled, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      if ((await simulator.tick(now)) > 0) this.#post({ kind: 'written' });
    }
    if (!this.#isReady) this.#post({ kind: 'ready' });
    this.#isReady = true;
    if (demo && (await simulator.fillLastSession(now)) > 0) this.#post({ kind: 'written' });
    if (isMaintenanceDue) await this.#maintain(ledger, this.#epochParts!, now);
  }

  /** Runs all periodic tasks, even if one fails, and reports the first failure. */
  async #maintain(ledger: Ledger, { closer, pruner, due }: EpochParts, now: number): Promise<void> {
    const { retention = DEFAULT_RETENTION, maintenanceBudgetMs = MAINTENANCE_BUDGET_MS } = this.#options;
    const bounds = { signal: this.#stopping.signal, budgetMs: maintenanceBudgetMs };
    const isPruneDue = Math.abs(now - this.#prunedAt) >= PRUNE_MS;
    const isRetentionDue = Math.abs(now - this.#retentionDoneAt) >= PRUNE_MS;
    let isPruned = !isPruneDue;
    let isRetentionDone = !isRetentionDue;
    const tasks = [
      () => ledger.quarantine.expire(now),
      () => due.start(now),
      async () => due.startSample(() => this.#post({ kind: 'written' }), this.#onSampleError),
      async () => {
        if ((await closer.close(now, bounds)) > 0) this.#post({ kind: 'written' });
      },
      async () => {
        if (!isPruneDue || closer.isBehind) return; // a day without a bar keeps its ticks
        await pruner.prune(now, bounds);
        isPruned = !pruner.isBehind;
      },
      async () => {
        if (!isRetentionDue) return;
        isRetentionDone = await ledger.retention.apply(now, retention, bounds);
        if (isRetentionDone) this.#retentionDoneAt = now;
      },
    ];
    const results: PromiseSettledResult<unknown>[] = [];
    for (const task of tasks) {
      if (bounds.signal.aborted) return;
      results.push(...(await Promise.allSettled([task()])));
    }
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    if (isPruneDue && isPruned) this.#prunedAt = now;
    this.#isBehind = closer.isBehind || !isPruned || !isRetentionDone;
    if (!this.#isBehind) this.#maintainedAt = now;
  }

  async #partsOf(ledger: Ledger): Promise<EpochParts> {
    const { epoch } = await ledger.head();
    if (this.#epochParts?.epoch === epoch) return this.#epochParts;
    await this.#epochParts?.due.settled();
    const { clock, setup = { providers: [], secrets: {} } } = this.#options;
    const parts = {
      ...setup,
      ledger,
      runtime: systemRuntime(clock),
      holder: `${processName()} ${crypto.randomUUID()}`,
      signal: this.#stopping.signal,
    };
    const due = new DueFeeds(parts, this.#onRunEnd);
    return {
      epoch,
      simulator: new Simulator(ledger),
      closer: new Closer(ledger),
      pruner: new Pruner(ledger),
      due,
    };
  }

  readonly #onRunEnd = (provider: Provider, ended: RunResult | Error): void => {
    this.#post({ kind: 'written' });
    const failed = { ...newReport(), feed: provider.key };
    const { feed, status, taken, corrected, unchanged, held, refused } =
      ended instanceof Error ? failed : ended;
    this.#post({ kind: 'ran', run: { feed, status, taken, corrected, unchanged, held, refused } });
    if (!(ended instanceof Error) && (ended.status === 'ok' || ended.status === 'unchanged')) return;
    const how = ended instanceof Error ? 'failed' : ended.status;
    this.#post({ kind: 'error', message: `feed ${provider.key} ${how}: ${ended.message}` });
  };

  readonly #onSampleError = (error: unknown): void =>
    this.#post({ kind: 'error', message: `loading the bundle failed: ${messageOf(error)}` });

  readonly #onFilled = (done: number, total: number): void => {
    this.#post({ kind: 'written' });
    this.#post({ kind: 'progress', done, total });
  };
}
