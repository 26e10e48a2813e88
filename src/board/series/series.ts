import type { Ledger } from '../../ledger/ledger.ts';
import type { BarRevision } from '../../ledger/prices/bars.ts';
import { SIMULATED_ID } from '../../ledger/symbols/sources.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { LedgerTick } from '../../ledger/ticks/ticks.ts';
import { tickSeenFrom } from '../../market/visibility.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Delays, PriceHistory } from './price-history.ts';
import type { SeriesDates } from './series-dates.ts';

/** How much of a series is in memory. */
export type LoadLevel = 'nothing' | 'recent' | 'all';

/** What a request needs of it: `dates` are its first and its last one alone. */
export type RequiredData = LoadLevel | 'dates';

/**
 * All that is known of one symbol's prices. It holds its real history and, until every view shows real prices, its
 * simulated one; a view shows the one or the other, never both.
 */
export class Series {
  symbol: LedgerSymbol;
  readonly #ledger: Ledger;
  readonly #showSimulated: boolean;
  #delays: Delays;
  #real: PriceHistory | undefined;
  #simulated: PriceHistory | undefined;
  #loading: Promise<void> | undefined;
  /** While a load is under way: whether it must read again, and what it may have missed. */
  #overtaken = false;
  #missedBars: BarRevision[] = [];
  #missedTicks: LedgerTick[] = [];
  loaded: LoadLevel = 'nothing';
  /** While nothing is loaded: the dates of its prices, if they are known. */
  dates: SeriesDates | undefined;
  /** How often it changed. */
  changes = 0;
  /** From when on the feed that brings it is late, in ms. */
  lateFrom = Number.POSITIVE_INFINITY;
  /** A count of uses, for letting go of the least used. */
  lastUsed = 0;
  /** Per view, a number that is new whenever the view shows something else. */
  versions: number[] = [];
  /** The newest of all versions of all series: while it stands still, no view shows anything else. */
  static lastVersion = 0;

  constructor(symbol: LedgerSymbol, ledger: Ledger, delays: Delays, showSimulated: boolean) {
    this.symbol = symbol;
    this.#ledger = ledger;
    this.#showSimulated = showSimulated;
    this.#delays = delays;
    this.reset();
  }

  /** The history that a view shows; undefined when it shows nothing at all. */
  shown(view: number): PriceHistory | undefined {
    if (this.#real?.views[view]?.latest) return this.#real;
    if (this.#simulated?.views[view]?.latest) return this.#simulated;
    return undefined;
  }

  get bytes(): number {
    return (this.#real?.columns?.bytes ?? 0) + (this.#simulated?.columns?.bytes ?? 0);
  }

  get nextDue(): number {
    return Math.min(
      this.#real?.nextDue ?? Number.POSITIVE_INFINITY,
      this.#simulated?.nextDue ?? Number.POSITIVE_INFINITY,
    );
  }

  has(wanted: RequiredData): boolean {
    if (wanted === 'dates') return this.loaded !== 'nothing' || this.dates !== undefined;
    return this.loaded === 'all' || this.loaded === wanted;
  }

  async load(wanted: LoadLevel, clock: Clock): Promise<void> {
    while (!this.has(wanted)) {
      this.#loading ??= this.#read(wanted, clock.now()).finally(() => {
        this.#loading = undefined;
      });
      await this.#loading;
    }
  }

  /** Forgets everything; the next request loads it anew, with a view for each of `delays`. */
  reset(delays = this.#delays): void {
    this.#overtaken = true;
    this.#delays = delays;
    this.#letGoOfColumns();
    this.loaded = 'nothing';
    this.dates = undefined;
    this.changes++;
    this.#real = undefined;
    this.#simulated = undefined;
    this.versions = delays.map(() => ++Series.lastVersion);
  }

  /** Lets go of the history and keeps the recent days. */
  evict(): void {
    if (this.loaded !== 'all') return;
    this.loaded = 'recent';
    this.#letGoOfColumns();
  }

  #letGoOfColumns(): void {
    this.#real?.letGoOfColumns();
    this.#simulated?.letGoOfColumns();
  }

  /** Takes in what the ledger has got since. */
  apply(bars: readonly BarRevision[], ticks: readonly LedgerTick[], now: number): void {
    if (this.#loading) {
      this.#missedBars.push(...bars);
      this.#missedTicks.push(...ticks);
    }
    this.changes++;
    if (this.dates && !this.dates.coversAll(bars, ticks)) {
      this.dates = undefined;
      this.#bump(this.versions.keys());
    }
    this.#takeIn(bars, ticks, now);
  }

  #takeIn(bars: readonly BarRevision[], ticks: readonly LedgerTick[], now: number): void {
    if (this.loaded === 'nothing') return;
    for (const bar of bars) {
      const history = this.#historyOf(bar.sourceId);
      if (history && bar.withdrawn && history.dependsOn(bar.day)) {
        this.reset();
        return;
      }
      history?.addBar(bar, now);
    }
    // A push is one revision, whose ticks come in the order of their ids. The log takes them in the order they are seen.
    for (const tick of ticks.toSorted((a, b) => tickSeenFrom(a) - tickSeenFrom(b))) {
      const history = this.#historyOf(tick.sourceId);
      if (history && !history.addTick(tick, now)) {
        this.reset();
        return;
      }
    }
    this.advance(now);
  }

  /** Moves the views on to `now`. */
  advance(now: number): void {
    if (this.#simulated) this.#bump(this.#simulated.advance(now));
    if (this.#real) this.#bump(this.#real.advance(now));
    if (!this.#real?.showsEverywhere) return;
    this.#simulated?.letGoOfColumns();
    this.#simulated = undefined;
  }

  async #read(wanted: LoadLevel, now: number): Promise<void> {
    this.#overtaken = false;
    this.#missedBars = [];
    this.#missedTicks = [];
    const real = new PriceHistory(this.symbol, 'real', this.#delays);
    await real.loadRecent(this.#ledger, now);
    const needsSimulated = this.#showSimulated && !real.showsEverywhere;
    const simulated = needsSimulated ? new PriceHistory(this.symbol, 'simulated', this.#delays) : undefined;
    await simulated?.loadRecent(this.#ledger, now);
    if (wanted === 'all') {
      await real.loadColumns(this.#ledger, now);
      await simulated?.loadColumns(this.#ledger, now);
    }
    if (this.#overtaken) return; // load() reads again
    this.#real = real;
    this.#simulated = simulated;
    this.loaded = wanted;
    this.versions = this.#delays.map(() => ++Series.lastVersion);
    this.#takeIn(this.#missedBars, this.#missedTicks, now);
    this.#missedBars = [];
    this.#missedTicks = [];
  }

  #historyOf(sourceId: number): PriceHistory | undefined {
    return sourceId === SIMULATED_ID ? this.#simulated : this.#real;
  }

  #bump(views: Iterable<number>): void {
    for (const view of views) this.versions[view] = ++Series.lastVersion;
  }
}
