import type { LedgerLatency } from '../../ledger/engine/latency.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { Push } from '../../ledger/prices/pushes.ts';
import { DEFAULT_RETENTION, type RetentionRules } from '../../ledger/retention/rules.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { processName } from '../../runtime/process-name.ts';
import { Closer } from '../close/closer.ts';
import { sleep, systemRuntime } from '../fetch/runtime.ts';
import type { Provider, Secrets } from '../provider.ts';
import { newReport, type RunResult } from '../run/run-record.ts';
import { Simulator } from '../simulator/simulator.ts';
import { DueFeeds } from './due-feeds.ts';
import { packOutcomes } from './packed-push.ts';
import type { FromWorker } from './protocol.ts';
import { takePush } from './push.ts';

/** Ticks are due at any second. */
const TURN_MS = 1_000;
/** A bar is published at most this long after its session's end. */
const CLOSE_MS = 10_000;
const PRUNE_MS = 3_600_000;
/** After this time closing and pruning let the other work of a turn go on, and continue in the next one. */
const CLOSE_BUDGET_MS = 500;

/** The providers whose feeds may be turned on, and the words of the environment that they need. */
export interface Providing {
  providers: readonly Provider[];
  secrets: Secrets;
}

/** What works on one ledger. Another epoch is another ledger: what was remembered of the old one is wrong. */
interface Crew {
  epoch: string;
  simulator: Simulator;
  closer: Closer;
  due: DueFeeds;
}

/**
 * All work of the feeds, one turn after the other:
 *
 *     open the ledger ─► fill history ─► ticks due ─► start due feeds ─► close days ─► prune ticks and old rows
 *                        every 10 s      every 1 s    every 10 s         every 10 s    every hour
 *
 * History comes before closing: a simulated day's bar is the walk's, also when some of its ticks were never made.
 * Without room on the disk nothing of it is done. A feed's run goes on beside the turns: a provider may be silent for half a minute, and ticks do not wait for it.
 */
export class FeedLoop {
  readonly #url: string;
  readonly #demo: boolean;
  readonly #clock: Clock;
  readonly #post: (message: FromWorker) => void;
  readonly #providing: Providing;
  readonly #retention: RetentionRules;
  readonly #latency: LedgerLatency | undefined;
  readonly #stopping = new AbortController();
  #opening: Promise<Ledger> | undefined;
  readonly #pushes = new Set<Promise<unknown>>();
  #crew: Crew | undefined;
  #closedAt = Number.NEGATIVE_INFINITY;
  #prunedAt = Number.NEGATIVE_INFINITY;
  #isReady = false;
  /** Whether closing or pruning stopped at the end of its budget, with more to do. */
  #isBehind = false;

  constructor(
    url: string,
    demo: boolean,
    clock: Clock,
    post: (message: FromWorker) => void,
    providing: Providing = { providers: [], secrets: {} },
    retention: RetentionRules = DEFAULT_RETENTION,
    latency?: LedgerLatency,
  ) {
    this.#latency = latency;
    this.#retention = retention;
    this.#url = url;
    this.#demo = demo;
    this.#clock = clock;
    this.#post = post;
    this.#providing = providing;
  }

  /** Takes turns until it is stopped, then closes the ledger. A turn that fails is reported, and the next one tries again. */
  async run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.turn();
        this.#post({ kind: 'turned' });
      } catch (error) {
        this.#isBehind = false; // not tried again at once
        this.#post({ kind: 'failed', message: messageOf(error) });
      }
      await sleep(this.#isBehind ? 0 : TURN_MS, this.#stopping.signal);
    }
    await this.#crew?.due.settled();
    await Promise.allSettled(this.#pushes);
    await this.#opening?.then((ledger) => ledger.close()).catch(() => {});
    this.#post({ kind: 'stopped' });
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Takes in what was sent, between or beside the turns, and tells what became of it. */
  async push(number: number, push: Push): Promise<void> {
    const taking = this.#openLedger().then((ledger) => takePush(ledger, push));
    this.#pushes.add(taking);
    try {
      const outcomes = await taking;
      this.#post({ kind: 'pushed', number, outcomes: packOutcomes(outcomes) });
      this.#post({ kind: 'written' });
    } catch (error) {
      this.#post({ kind: 'not-pushed', number, error: tellable(error) });
    }
    this.#pushes.delete(taking);
  }

  #openLedger(): Promise<Ledger> {
    if (!this.#opening) {
      this.#opening = Ledger.open(this.#url, this.#clock, 'feeding', { latency: this.#latency });
      this.#opening.catch(() => {
        this.#opening = undefined; // the next turn tries again
      });
    }
    return this.#opening;
  }

  async turn(): Promise<void> {
    const now = this.#clock.now();
    const isCloseDue = Math.abs(now - this.#closedAt) >= CLOSE_MS; // also when the clock was set back
    const ledger = await this.#openLedger();
    if (isCloseDue) await ledger.engine.tidy();
    if (!ledger.engine.hasDiskSpace()) return; // the service raises the alarm
    if (isCloseDue) this.#crew = await this.#crewFor(ledger);
    const { simulator, closer, due } = this.#crew!;
    if (this.#demo) {
      if (isCloseDue) await simulator.fillHistory(now, this.#onFilled, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      if ((await simulator.tick(now)) > 0) this.#post({ kind: 'written' });
    }
    if (!this.#isReady) this.#post({ kind: 'ready' });
    this.#isReady = true;
    if (isCloseDue) await this.#tend(ledger, closer, due, now);
  }

  /** One failure does not keep the others from being done: each is tried, and the first failure is reported. */
  async #tend(ledger: Ledger, closer: Closer, due: DueFeeds, now: number): Promise<void> {
    const limits = { signal: this.#stopping.signal, budgetMs: CLOSE_BUDGET_MS };
    const isPruneDue = Math.abs(now - this.#prunedAt) >= PRUNE_MS;
    let [isPruned, isRetained] = [!isPruneDue, !isPruneDue];
    const tasks = [
      () => ledger.quarantine.expire(now),
      () => due.start(now),
      async () => {
        if ((await closer.close(now, limits)) > 0) this.#post({ kind: 'written' });
      },
      async () => {
        if (!isPruneDue || closer.isBehind) return; // a day without a bar keeps its ticks
        await closer.prune(now, limits);
        isPruned = !closer.isPruningBehind;
      },
      async () => {
        if (isPruneDue) isRetained = await ledger.retention.prune(now, this.#retention, limits);
      },
    ];
    const results: PromiseSettledResult<unknown>[] = [];
    for (const task of tasks) results.push(...(await Promise.allSettled([task()])));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    if (isPruneDue && isPruned && isRetained) this.#prunedAt = now;
    this.#isBehind = closer.isBehind || !isPruned || !isRetained;
    if (!this.#isBehind) this.#closedAt = now;
  }

  async #crewFor(ledger: Ledger): Promise<Crew> {
    const { epoch } = await ledger.head();
    if (this.#crew?.epoch === epoch) return this.#crew;
    await this.#crew?.due.settled();
    const { providers, secrets } = this.#providing;
    const parts = {
      ledger,
      providers,
      secrets,
      runtime: systemRuntime(this.#clock),
      holder: `${processName()} ${crypto.randomUUID()}`,
      signal: this.#stopping.signal,
    };
    const due = new DueFeeds(parts, this.#onRunEnd);
    return { epoch, simulator: new Simulator(ledger), closer: new Closer(ledger), due };
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

  readonly #onFilled = (done: number, total: number): void => {
    this.#post({ kind: 'written' });
    this.#post({ kind: 'progress', done, total });
  };
}

/** What of an error goes through a message: its text, and what says whether the ledger was out of reach. */
function tellable(error: unknown): { message: string; code?: string; errno?: string } {
  const told: { message: string; code?: string; errno?: string } = { message: messageOf(error) };
  if (error instanceof Error && 'code' in error) told.code = String(error.code);
  if (error instanceof Error && 'errno' in error) told.errno = String(error.errno);
  return told;
}
