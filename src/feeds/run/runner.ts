import { type FeedLease, LeaseLost } from '../../ledger/operations/feed-runs.ts';
import type { FilledSymbols } from '../../ledger/operations/filled-symbols.ts';
import type { NewBar } from '../../ledger/prices/bars.ts';
import { type Judgement, judgeBars } from '../../ledger/quarantine/judge-bars.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { type Day, EARLIEST_DAY, latestTradeDate, MS_PER_DAY, printDay, utcDay } from '../../market/day.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { type Archive, fetchProvider } from '../fetch/fetch-provider.ts';
import { FETCH_LIMITS, type FetchFailure } from '../fetch/http-client.ts';
import type { ProviderData } from '../fetch/provider-data.ts';
import { type Ownership, ownershipOf } from '../mapping.ts';
import { type Provider, withUrls } from '../provider.ts';
import { absentSeries } from './absent-series.ts';
import { type RunContext, type RunnerParts, symbolsOf } from './context.ts';
import { type Doubts, heldSeries, unitChanges } from './doubts.ts';
import { fail, quarantine, succeed } from './finish.ts';
import { fillableSymbols, mapObservations } from './map-observations.ts';
import { RunRecord, type RunResult } from './run-record.ts';
import { findWithdrawnDays, type WithdrawnDays } from './withdrawn-days.ts';
import { hold, publish, withdraw } from './write.ts';

export interface RunOptions {
  /** Runs only if the feed is enabled and due at this time. */
  dueAt?: number;
  /** Runs only if an operator's request with the same `accept` waits, and takes the request. */
  requested?: boolean;
  baseUrl?: string;
  /**
   * Reads bodies from here instead of the network, and publishes every series of the provider, also those that another enabled
   * feed owns. The feed's schedule then fetches all history as if it had never run.
   */
  archive?: Archive;
  /** Publishes suspect prices: the operator has checked them. */
  accept?: boolean;
  onProgress?(what: 'fetched' | 'published', done: number, total: number): void;
}

/** Longer than an attempt and the pause before it: the lease is renewed before each attempt and in each transaction. */
const LEASE_MS = 180_000;
/** How far back a scheduled run fetches, if the provider supports that. Corrections arrive late. */
const SINCE_DAYS = 60;
/** How often all history is fetched, for older corrections. */
const FULL_EVERY_MS = 7 * MS_PER_DAY;

/**
 * One run of one feed. A series that cannot be read fails alone, and a suspect series is held alone; the others are
 * published:
 *
 *     lease ─► fetch all ─► parse ─► map ─► check ─► publish ─► finish
 *              failed       failed          quarantined  ok, or partial
 *
 * Nothing is written before everything has been fetched and checked, so only a ledger failure or the end of this process can
 * interrupt a run after its first write. Every transaction checks the lease. An interrupted run leaves valid prices, no
 * validators and a feed that is still due; the next run fetches the full bodies again and adds what is missing.
 *
 * Returns undefined if another runner holds the lease, the feed is no longer due, or another runner has taken
 * the request.
 */
export async function runFeed(
  known: Provider,
  parts: RunnerParts,
  options: RunOptions = {},
): Promise<RunResult | undefined> {
  const { ledger, runtime, holder, leaseMs = LEASE_MS } = parts;
  const provider = withUrls(known, await ledger.feeds.urls(known.key));
  const started = runtime.now();
  const { dueAt, requested, accept = false } = options;
  const conditions = { ...(dueAt !== undefined && { dueAt }), ...(requested && { requested: { accept } }) };
  const lease = await ledger.feeds.take({ feed: provider.key, holder, leaseMs, started, ...conditions });
  if (!lease) return undefined;
  const owned = options.archive
    ? { series: provider.series, elsewhere: new Map() }
    : ownershipOf(provider, parts.providers, await ledger.feeds.enabled());
  return new Run(contextOf(provider, owned, parts, lease), options).run();
}

function contextOf(
  provider: Provider,
  { series, elsewhere }: Ownership,
  parts: RunnerParts,
  lease: FeedLease,
): RunContext {
  const record = new RunRecord(lease, parts.secrets);
  const others = [...elsewhere].map(([where, symbols]) => ({
    where,
    reason: `fills ${symbols.join(', ')}`,
  }));
  record.note('elsewhere', others);
  return { provider: { ...provider, series }, parts, lease, record };
}

/** What a run knows before it writes. */
interface Findings {
  symbols: readonly LedgerSymbol[];
  judgement: Judgement<NewBar>;
  withdrawn: WithdrawnDays;
  doubts: Doubts;
}

class Run {
  readonly #context: RunContext;
  readonly #options: RunOptions;
  /** The first requested day; undefined for all history, which manual runs always fetch. */
  readonly #since: Day | undefined;
  #filled: FilledSymbols = {};

  constructor(context: RunContext, options: RunOptions) {
    this.#context = context;
    this.#options = options;
    const { parts, lease } = context;
    const now = parts.runtime.now();
    const isFull = options.dueAt === undefined || now - (lease.lastFull ?? 0) >= FULL_EVERY_MS;
    this.#since = isFull ? undefined : utcDay(now) - SINCE_DAYS;
  }

  async run(): Promise<RunResult> {
    try {
      const fetched = await this.#fetchProvider();
      if (fetched.outcome === 'failed') return await fail(this.#context, fetched);
      return await this.#process(fetched);
    } catch (error) {
      if (error instanceof LeaseLost) return this.#context.record.result('failed', messageOf(error));
      return await fail(this.#context, { outcome: 'failed', reason: messageOf(error) });
    }
  }

  async #fetchProvider(): Promise<ProviderData | FetchFailure> {
    const { provider, parts, lease, record } = this.#context;
    let requests = 0;
    const { ledger, secrets, runtime, signal, limits = FETCH_LIMITS } = parts;
    return fetchProvider(provider, {
      secrets,
      since: this.#since,
      baseUrl: this.#options.baseUrl,
      archive: this.#options.archive,
      known: await ledger.feeds.bodies(provider.key),
      accept: this.#options.accept ?? false,
      // Series that failed before may lack days before `since`. Others may have got another symbol since.
      wantedInFull: [...lease.failing.map(({ series }) => series), ...(await this.#newlyFilled())],
      runtime,
      limits,
      signal,
      onAttempt: () => ledger.feeds.renew(lease),
      onRequest: () => record.set({ requests: ++requests }),
      onProgress: (done, total) => this.#options.onProgress?.('fetched', done, total),
    });
  }

  /** Series whose symbol was defined or corrected since the last run. Exchange rates have symbols that nobody changes. */
  async #newlyFilled(): Promise<string[]> {
    const { provider, parts } = this.#context;
    if (provider.fills === 'currencies') return [];
    const { symbols, feeds } = parts.ledger;
    this.#filled = fillableSymbols(provider, await symbols.list());
    const before = await feeds.filled(provider.key);
    return Object.keys(this.#filled).filter((id) => this.#filled[id] !== before[id]);
  }

  async #process(fetched: ProviderData): Promise<RunResult> {
    const { provider, record } = this.#context;
    const { bodyHash, bytes, missing } = fetched;
    record.set({ bodyHash, bytes, missing });
    record.note('odd', fetched.odd);
    record.note('ignored', fetched.ignored);
    if (bytes === 0 || provider.series.length === 0) return this.#succeed('unchanged', fetched);
    const { symbols, judgement, withdrawn, doubts } = await this.#examine(fetched);
    if (fetched.shrunken[0] !== undefined && !this.#options.accept) {
      return quarantine(this.#context, fetched.shrunken[0]);
    }
    const isTrusted = <One extends { symbolId: number }>(one: One) => !doubts.has(one.symbolId);
    const admitted = judgement.admitted.filter(isTrusted);
    const held = judgement.held.filter(({ bar }) => isTrusted(bar));
    if (admitted.length + held.length === 0) {
      if (doubts.size > 0) return quarantine(this.#context, firstDoubt(doubts, symbols));
      // A landing page has no prices of its own, and the file behind it has not changed. Monthly prices may be months old.
      const isNothingNew = fetched.kept > 0 || (this.#since !== undefined && fetched.failed.length === 0);
      if (isNothingNew && record.refused === 0) return this.#succeed('unchanged', fetched);
      const reason = 'no usable observation';
      return fail(this.#context, { outcome: 'failed', reason });
    }
    const onProgress = (done: number) => this.#options.onProgress?.('published', done, admitted.length);
    record.set(await publish(this.#context, admitted, onProgress));
    await hold(this.#context, held);
    record.note('held', describeBars(held, symbols));
    const days = withdrawn.days.filter(isTrusted);
    await withdraw(this.#context, days);
    record.note('withdrawn', days);
    return this.#succeed('ok', fetched, heldSeries(doubts, provider, symbols));
  }

  /** Checks what was fetched. Writes no prices. */
  async #examine(fetched: ProviderData): Promise<Findings> {
    const { provider, parts, record, lease } = this.#context;
    const symbols = await symbolsOf(this.#context);
    const failing = new Set(lease.failing.map(({ series }) => series));
    const check = { since: this.#since ?? EARLIEST_DAY, failing, symbols };
    fetched.failed.push(...(await absentSeries(provider, fetched, parts.ledger, check)));
    const latestDay = latestTradeDate(parts.runtime.now());
    const mapped = mapObservations(provider, fetched.observations, symbols, latestDay);
    const judgement = await this.#judge(mapped.bars);
    record.refuse([...fetched.refused, ...mapped.refused, ...describeBars(judgement.refused, symbols)]);
    const withdrawn = await this.#withdrawnDays(fetched, mapped.bars, judgement, symbols);
    const doubts = this.#options.accept
      ? mapped.doubts
      : new Map([
          ...withdrawn.doubts,
          ...(await unitChanges(parts.ledger, judgement.admitted, provider.key)),
          ...mapped.doubts,
        ]);
    return { symbols, judgement, withdrawn, doubts };
  }

  #judge(bars: readonly NewBar[]): Promise<Judgement<NewBar>> {
    const { provider, parts } = this.#context;
    return judgeBars(parts.ledger.engine, bars, {
      source: provider.key,
      comparedWith: 'own',
      accept: this.#options.accept ?? false,
      holdUnitChanges: false,
    });
  }

  /** Only series with complete bodies can withdraw days. A refused price, such as zero for a missing value, counts as absent. */
  #withdrawnDays(
    { incomplete }: ProviderData,
    bars: readonly NewBar[],
    { refused }: Judgement<NewBar>,
    symbols: readonly LedgerSymbol[],
  ): Promise<WithdrawnDays> {
    const { provider, parts } = this.#context;
    const codes = new Set(
      provider.series.filter(({ id }) => !incomplete.has(id)).map(({ symbol }) => symbol),
    );
    const complete = new Set(symbols.filter(({ code }) => codes.has(code)).map(({ id }) => id));
    const missing = new Set(refused.map(({ bar }) => bar));
    const edition = bars.filter((bar) => complete.has(bar.symbolId) && !missing.has(bar));
    return findWithdrawnDays(parts.ledger, provider.key, edition, symbols);
  }

  #succeed(
    how: 'ok' | 'unchanged',
    fetched: ProviderData,
    held: ReturnType<typeof heldSeries> = [],
  ): Promise<RunResult> {
    const { archive } = this.#options;
    if (archive) fetched.bodies.length = 0; // what the provider itself sends is compared with its own bodies only
    const isFull = this.#since === undefined && archive === undefined;
    const filled = archive ? undefined : this.#filled;
    return succeed(this.#context, { how, fetched, isFull, held, filled, edition: archive?.edition });
  }
}

function firstDoubt(doubts: Doubts, symbols: readonly LedgerSymbol[]): string {
  const [symbolId, reason] = [...doubts][0]!;
  return `${symbols.find(({ id }) => id === symbolId)!.code}: ${reason}`;
}

/** Describes bars for the report of a run. */
function describeBars(
  bars: readonly { bar: NewBar; reason: string }[],
  symbols: readonly LedgerSymbol[],
): { where: string; reason: string }[] {
  const codes = new Map(symbols.map(({ id, code }) => [id, code]));
  return bars.map(({ bar, reason }) => ({
    where: `${codes.get(bar.symbolId)} ${printDay(bar.day)}`,
    reason,
  }));
}
