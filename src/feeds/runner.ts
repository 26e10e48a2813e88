import type { BarRevision, NewBar, PublishResult } from '../ledger/bars.ts';
import type { Sql } from '../ledger/engine/rows.ts';
import { type Coverage, type FeedLease, LeaseLost, type SeriesFailure } from '../ledger/feed-runs.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Judgement, judgeBars } from '../ledger/prices/judge.ts';
import type { LedgerSymbol } from '../ledger/symbols.ts';
import { messageOf } from '../log.ts';
import { type Day, EARLIEST_DAY, MS_PER_DAY, printDay, utcDay } from '../market/day.ts';
import { type Failure, LIMITS, type Limits, type Surroundings } from './fetcher.ts';
import { gapsIn } from './gaps.ts';
import { type Gathered, gather } from './gather.ts';
import { type Ownership, ownershipOf } from './mapping.ts';
import { mapObservations } from './observations.ts';
import type { Provider, Secrets } from './provider.ts';
import { absentSeries, bodiesToKeep, type Window } from './run/absent-series.ts';
import { findWithdrawnDays, type WithdrawnDay, type WithdrawnDays } from './run/withdrawn-days.ts';
import { RunRecord, type RunResult } from './run-record.ts';
import { lateAfter, nextSlot, retryAt } from './schedule.ts';
import { findUnitChange, NEIGHBOUR_DAYS } from './unit-change.ts';

/** What a run needs beside its provider. */
export interface RunnerParts {
  ledger: Ledger;
  /** All there are, in their order: of those that are on, the first that has a symbol brings it. */
  providers: readonly Provider[];
  secrets: Secrets;
  around: Surroundings;
  /** Names this process in the lease. No two have the same. */
  holder: string;
  signal: AbortSignal;
  limits?: Limits;
  leaseMs?: number;
}

export interface RunOptions {
  /** Only if the feed is on and due at this time. */
  dueAt?: number;
  baseUrl?: string;
  /** Takes what looks suspicious: the operator has looked at it. */
  accept?: boolean;
  onProgress?(what: 'fetched' | 'published', done: number, total: number): void;
}

/** Longer than one attempt and the pause before it: the lease is renewed before each attempt and with each transaction. */
const LEASE_MS = 180_000;
/** What a scheduled run asks for, from a provider that can be asked for less than everything; corrections come late. */
const SINCE_DAYS = 60;
/** So often everything is asked for again: a correction may be older than that. */
const FULL_EVERY_MS = 7 * MS_PER_DAY;

/**
 * One run of one feed. A series that cannot be read fails by itself; the others are taken in:
 *
 *     lease ─► fetch all ─► parse ─► map ─► doubt ─► publish ─► finish
 *              failed       failed          quarantined  ok, or partial
 *
 * Nothing is written before everything has been fetched and looked at, so only the ledger or the end of this process can
 * cut a run short after its first write. Every transaction holds the lease: whoever has lost it writes nothing more. A
 * run that is cut short leaves valid prices, no validators and a feed that is still due; the next run asks for the full
 * bodies again, finds what is there unchanged, and adds the rest.
 *
 * Undefined: another runner has the feed, or it is not due any more.
 */
export async function runFeed(
  provider: Provider,
  parts: RunnerParts,
  options: RunOptions = {},
): Promise<RunResult | undefined> {
  const { ledger, around, holder, leaseMs = LEASE_MS } = parts;
  const started = around.now();
  const due = options.dueAt === undefined ? {} : { dueAt: options.dueAt };
  const lease = await ledger.feeds.take({ feed: provider.key, holder, leaseMs, started, ...due });
  if (!lease) return undefined;
  const owned = ownershipOf(provider, parts.providers, await ledger.feeds.enabled());
  return new Run(provider, owned, parts, options, lease).run();
}

class Run {
  /** With those of its series whose symbols it owns. */
  readonly #provider: Provider;
  readonly #parts: RunnerParts;
  readonly #options: RunOptions;
  readonly #lease: FeedLease;
  /** The first day that is asked for; undefined for all history. A run by hand is of everything. */
  readonly #since: Day | undefined;
  readonly #record: RunRecord;

  constructor(
    provider: Provider,
    { series, elsewhere }: Ownership,
    parts: RunnerParts,
    options: RunOptions,
    lease: FeedLease,
  ) {
    this.#provider = { ...provider, series };
    this.#record = new RunRecord(lease, parts.secrets);
    const others = [...elsewhere].map(([where, symbols]) => ({
      where,
      reason: `brings ${symbols.join(', ')}`,
    }));
    this.#record.note('elsewhere', others);
    this.#parts = parts;
    this.#options = options;
    this.#lease = lease;
    const now = parts.around.now();
    const isFull = options.dueAt === undefined || now - (lease.lastFull ?? 0) >= FULL_EVERY_MS;
    this.#since = isFull ? undefined : utcDay(now) - SINCE_DAYS;
  }

  async run(): Promise<RunResult> {
    try {
      const gathered = await this.#gather();
      if (gathered.outcome === 'failed') return await this.#fail(gathered);
      return await this.#take(gathered);
    } catch (error) {
      if (error instanceof LeaseLost) return this.#record.result('failed', messageOf(error));
      return await this.#fail({ outcome: 'failed', reason: messageOf(error) });
    }
  }

  async #gather(): Promise<Gathered | Failure> {
    const { ledger, secrets, around, signal, limits = LIMITS } = this.#parts;
    return gather(this.#provider, {
      secrets,
      since: this.#since,
      baseUrl: this.#options.baseUrl,
      known: await ledger.feeds.bodies(this.#provider.key),
      accept: this.#options.accept ?? false,
      failing: this.#lease.failing.map(({ series }) => series),
      around,
      limits,
      signal,
      onAttempt: () => ledger.feeds.renew(this.#lease),
      onProgress: (done, total) => this.#options.onProgress?.('fetched', done, total),
    });
  }

  async #take(gathered: Gathered): Promise<RunResult> {
    const { around } = this.#parts;
    const { observations, bodyHash, bytes, requests, missing } = gathered;
    this.#record.set({ bodyHash, bytes, requests, missing });
    this.#record.note('odd', gathered.odd);
    this.#record.note('ignored', gathered.ignored);
    if (bytes === 0 || this.#provider.series.length === 0) return this.#succeed('unchanged', gathered);
    const symbols = await this.#symbols();
    gathered.failed.push(
      ...(await absentSeries(this.#provider, gathered, this.#parts.ledger, this.#window(symbols))),
    );
    const latestDay = utcDay(around.now()) + 2; // two days on: Asia and an evening session are ahead of UTC
    const mapped = mapObservations(this.#provider, observations, symbols, latestDay);
    const judgement = await this.#judge(mapped.bars);
    const told = (ones: readonly { bar: NewBar; reason: string }[]) => tellBars(ones, symbols);
    this.#record.refuse([...gathered.refused, ...mapped.refused, ...told(judgement.refused)]);
    if (mapped.suspicion !== undefined) return this.#quarantine(mapped.suspicion);
    const withdrawn = await this.#withdrawnDays(gathered, mapped.bars, judgement, symbols);
    const doubt =
      gathered.shrunken[0] ?? (await this.#doubtOf(judgement.admitted, symbols)) ?? withdrawn.doubt;
    if (doubt !== undefined && !this.#options.accept) return this.#quarantine(doubt);
    if (judgement.admitted.length + judgement.held.length === 0) {
      // A landing page that leads to a file which has not changed has no prices of its own.
      if (gathered.kept > 0 && this.#record.refused === 0) return this.#succeed('unchanged', gathered);
      return this.#fail({ outcome: 'failed', reason: 'there is no observation that can be used' });
    }
    this.#record.set(await this.#publish(judgement.admitted));
    await this.#hold(judgement.held);
    this.#record.note('held', told(judgement.held));
    this.#record.note('withdrawn', await this.#withdraw(withdrawn.days));
    return this.#succeed('ok', gathered);
  }

  #judge(bars: readonly NewBar[]): Promise<Judgement<NewBar>> {
    const { engine } = this.#parts.ledger;
    const accept = this.#options.accept ?? false;
    return judgeBars(engine, bars, {
      source: this.#provider.key,
      comparedWith: 'own',
      accept,
      holdUnitChanges: false,
    });
  }

  /** Only of series whose bodies are complete. A zero that stands for a missing value is as good as none. */
  #withdrawnDays(
    { incomplete }: Gathered,
    bars: readonly NewBar[],
    { refused }: Judgement<NewBar>,
    symbols: readonly LedgerSymbol[],
  ): Promise<WithdrawnDays> {
    const codes = new Set(
      this.#provider.series.filter(({ id }) => !incomplete.has(id)).map(({ symbol }) => symbol),
    );
    const complete = new Set(symbols.filter(({ code }) => codes.has(code)).map(({ id }) => id));
    const missing = new Set(refused.map(({ bar }) => bar));
    const edition = bars.filter((bar) => complete.has(bar.symbolId) && !missing.has(bar));
    return findWithdrawnDays(this.#parts.ledger, this.#provider.key, edition, symbols);
  }

  /** What it may fill. Currencies are symbols that nobody lists, made when they are first needed. */
  async #symbols(): Promise<LedgerSymbol[]> {
    const { symbols } = this.#parts.ledger;
    if (this.#provider.fills !== 'currencies') return symbols.list();
    const codes = this.#provider.series.map(({ id }) => id);
    return [...(await symbols.addCurrencies(codes)).values()];
  }

  /** Compares with the feed's own last word on each day and, where it has none, with what another source said. */
  async #doubtOf(bars: readonly NewBar[], symbols: readonly LedgerSymbol[]): Promise<string | undefined> {
    const { ledger } = this.#parts;
    const names = await ledger.sources.names();
    for (const [symbolId, ofSymbol] of Map.groupBy(bars, (bar) => bar.symbolId)) {
      const [first, last] = [ofSymbol[0]!.day, ofSymbol.at(-1)!.day];
      const revisions = await ledger.bars.revisions(
        symbolId,
        'real',
        first - NEIGHBOUR_DAYS,
        last + NEIGHBOUR_DAYS,
      );
      const isOwn = (one: BarRevision) => names.get(one.sourceId) === this.#provider.key;
      const ownLast = [...revisions.filter((one) => !isOwn(one)), ...revisions.filter(isOwn)];
      const current = new Map(ownLast.map((one) => [one.day, one]));
      const closes = [...current.values()].filter((one) => !one.withdrawn);
      const known = new Map(closes.map((one) => [one.day, one.close]));
      const change = findUnitChange(ofSymbol, known);
      if (change) return `${symbols.find((symbol) => symbol.id === symbolId)!.code}: ${change}`;
    }
    return undefined;
  }

  async #publish(bars: readonly NewBar[]): Promise<PublishResult> {
    const { ledger, around } = this.#parts;
    const recordedAt = around.now();
    const result = await ledger.bars.publish(
      bars,
      {
        source: this.#provider.key,
        recordedAt,
        reason: this.#name,
        comparedWith: 'own',
        before: this.#holdLease,
      },
      (done) => this.#options.onProgress?.('published', done, bars.length),
    );
    await ledger.heldBars.settle(this.#provider.key, recordedAt);
    return result;
  }

  async #hold(held: Judgement<NewBar>['held']): Promise<void> {
    const { ledger, around } = this.#parts;
    await ledger.heldBars.hold(held, {
      source: this.#provider.key,
      origin: this.#name,
      received: around.now(),
      before: this.#holdLease,
    });
  }

  async #withdraw(days: readonly WithdrawnDay[]): Promise<readonly WithdrawnDay[]> {
    const { ledger, around } = this.#parts;
    await ledger.withdrawals.withdraw(days, {
      by: 'source',
      source: this.#provider.key,
      reason: `${this.#name}: not in the provider's new edition`,
      recordedAt: around.now(),
      before: this.#holdLease,
    });
    return days;
  }

  get #name(): string {
    return `feed run ${this.#lease.number}`;
  }

  /** Every transaction stands or falls with the lease. */
  readonly #holdLease = async (tx: Sql): Promise<void> => {
    const { ledger, signal } = this.#parts;
    if (signal.aborted) throw new Error('it was stopped in the middle; the next run completes it');
    await ledger.feeds.renewWithin(tx, this.#lease);
  };

  /** What is known of the series before this run, for what is absent from it. */
  #window(symbols: readonly LedgerSymbol[]): Window {
    const failing = new Set(this.#lease.failing.map(({ series }) => series));
    return { since: this.#since ?? EARLIEST_DAY, failing, symbols };
  }

  /** Ends a run that brought what there is, of all series or of some. */
  async #succeed(how: 'ok' | 'unchanged', gathered: Gathered): Promise<RunResult> {
    const { ledger, around } = this.#parts;
    const now = around.now();
    const { failed } = gathered;
    const status = failed.length > 0 ? 'partial' : how;
    const message = failed.length > 0 ? this.#failedInWords(failed) : undefined;
    this.#record.note(
      'failed',
      failed.map(({ series, reason }) => ({ where: series, reason })),
    );
    const report = this.#record.result(status, message);
    await ledger.feeds.finish(this.#lease, {
      ended: now,
      report,
      nextRun: this.#shouldRetry(gathered)
        ? retryAt(this.#provider, now, 1, gathered.retry?.comeBackMs ?? 0, around.random())
        : nextSlot(this.#provider, now),
      lateAt: lateAfter(this.#provider, now),
      isFull: this.#since === undefined,
      bodies: bodiesToKeep(gathered),
      failing: this.#record.cleanFailures(failed),
      ...(how === 'ok' ? { coverage: await this.#coverage() } : {}),
    });
    return report;
  }

  /** Once, and then at each slot: a series that has answered with 500 for days is not asked for every few minutes. */
  #shouldRetry({ retry, failed }: Gathered): boolean {
    const known = new Set(this.#lease.failing.map(({ series }) => series));
    return retry !== undefined && failed.some(({ series }) => !known.has(series));
  }

  #failedInWords(failed: readonly SeriesFailure[]): string {
    const each = failed.map(({ series, reason }) => `${series}: ${reason}`).join('; ');
    return `${failed.length} of ${this.#provider.series.length} series failed: ${each}`;
  }

  /** What looks wrong will look wrong in an hour too: the next slot is early enough. */
  async #quarantine(reason: string): Promise<RunResult> {
    const now = this.#parts.around.now();
    return this.#end('quarantined', reason, nextSlot(this.#provider, now));
  }

  async #fail({ reason, comeBackMs = 0 }: Failure): Promise<RunResult> {
    const { around, signal } = this.#parts;
    const now = around.now();
    if (signal.aborted) return this.#end('failed', reason, now); // still due for whoever comes next
    const failures = this.#lease.failures + 1;
    return this.#end('failed', reason, retryAt(this.#provider, now, failures, comeBackMs, around.random()));
  }

  async #end(status: 'failed' | 'quarantined', reason: string, nextRun: number): Promise<RunResult> {
    const { ledger, around } = this.#parts;
    const result = this.#record.result(status, reason);
    try {
      await ledger.feeds.finish(this.#lease, { ended: around.now(), report: result, nextRun });
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
    }
    return result;
  }

  async #coverage(): Promise<Coverage> {
    const { ledger } = this.#parts;
    const codes = new Set(this.#provider.series.map((series) => series.symbol));
    const coverage: Coverage = { days: 0, gaps: 0, firstDay: undefined, lastDay: undefined };
    for (const { id, code } of await this.#symbols()) {
      const days = codes.has(code) ? await ledger.feeds.daysOf(this.#provider.key, id) : [];
      if (days.length === 0) continue;
      coverage.days += days.length;
      coverage.gaps += gapsIn(days);
      coverage.firstDay = Math.min(coverage.firstDay ?? days[0]!, days[0]!);
      coverage.lastDay = Math.max(coverage.lastDay ?? days.at(-1)!, days.at(-1)!);
    }
    return coverage;
  }
}

/** Bars as a run's record names them. */
function tellBars(
  bars: readonly { bar: NewBar; reason: string }[],
  symbols: readonly LedgerSymbol[],
): { where: string; reason: string }[] {
  const codes = new Map(symbols.map(({ id, code }) => [id, code]));
  return bars.map(({ bar, reason }) => ({
    where: `${codes.get(bar.symbolId)} ${printDay(bar.day)}`,
    reason,
  }));
}
