import type { Ledger } from '../../ledger/ledger.ts';
import type { BarRevision } from '../../ledger/prices/bars.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { LedgerTick } from '../../ledger/ticks/tick.ts';
import type { Day } from '../../market/day.ts';
import type { Clock } from '../../runtime/clock.ts';
import { EVERY_DAY, NO_CHANGE } from './delayed-view.ts';
import { hasHistory, isAtLeast, type LoadLevel, type RequiredData } from './load/load-level.ts';
import type { LoadQueue } from './load/series-load.ts';
import { SeriesLoader } from './load/series-loader.ts';
import type { ViewLags } from './price-types.ts';
import type { SeriesDates } from './series-dates.ts';
import { type HistorySource, SymbolHistories } from './symbol-histories.ts';

/**
 * Latest prices without the other ticks do not advance with the clock, so they are read again: well within the half second
 * in which a price is promised to show.
 */
const LATEST_MS_MAX = 250;

/** The newest day of a view without any price. */
const SHOWS_NOTHING = Number.NEGATIVE_INFINITY;

export interface SeriesOptions {
  ledger: Ledger;
  /** For loads that no request waits for. */
  queue: LoadQueue;
  showSimulated: boolean;
  /** Whether the ledger has simulated prices that are not shown. */
  hidesSimulated: boolean;
  /** Called after each load, with the time when the next price becomes visible, in ms. */
  onLoaded(nextDue: number): void;
  /** Called when the history takes more memory than before, or less. */
  onResized(series: SymbolSeries, more: number): void;
}

/** The prices of one symbol: how much of them is loaded, and when what each view shows of them changes. */
export class SymbolSeries {
  symbol: LedgerSymbol;
  readonly #options: SeriesOptions;
  #lags: ViewLags;
  /** Undefined if nothing is loaded. */
  histories: SymbolHistories | undefined;
  readonly #loader: SeriesLoader;
  /** If only the latest prices are loaded: when they have to be read again, in ms. */
  #latestUntil = Number.POSITIVE_INFINITY;
  /** During a load: whether it must start over, and the changes that it may have missed. */
  #isLoadStale = false;
  #missedBars: BarRevision[] = [];
  #missedTicks: LedgerTick[] = [];
  loaded: LoadLevel = 'nothing';
  /** When the next price becomes visible in some view, in ms. */
  nextDue = Number.POSITIVE_INFINITY;
  /** Its first and last date, if they are known while no prices are loaded. */
  dates: SeriesDates | undefined;
  changeCount = 0;
  #bytes = 0;
  #lateFrom = Number.POSITIVE_INFINITY;
  /** Set by the board on each use, for LRU eviction. */
  lastUsed = 0;
  /** By view index. Changes whenever the view shows something else. */
  versions: number[] = [];
  /** By view index. Changes whenever the view shows something else of the days before `newestDays`. */
  pastVersions: number[] = [];
  /** By view index: the newest day that the view has shown. It only increases until the series is reset or the view shows nothing. */
  newestDays: Day[] = [];
  /** The newest version of any series. While it is unchanged, so is every view. */
  static lastVersion = 0;

  constructor(symbol: LedgerSymbol, options: SeriesOptions, lags: ViewLags) {
    this.symbol = symbol;
    this.#options = options;
    this.#lags = lags;
    this.#loader = new SeriesLoader(options.queue, {
      has: (wanted) => this.has(wanted),
      read: (wanted, now, onNextPage) => this.#readMissing(wanted, now, onNextPage),
      readLatest: (now) => this.#readLatest(now),
    });
    this.reset();
  }

  /** Whether it has only simulated prices, which are not shown. */
  get isHidden(): boolean {
    return this.#options.hidesSimulated && !this.symbol.real;
  }

  /** When its feed becomes late, in ms. */
  get lateFrom(): number {
    return this.#lateFrom;
  }

  /** Views change with it, unless it only moves further into the future. */
  setLateFrom(lateFrom: number, now: number): void {
    const before = this.#lateFrom;
    if (lateFrom === before) return;
    this.#lateFrom = lateFrom;
    if (before <= now || lateFrom < before) this.#changeAll(NO_CHANGE);
  }

  /** The memory that its history takes. */
  get bytes(): number {
    return this.#bytes;
  }

  has(wanted: RequiredData): boolean {
    if (wanted === 'dates') return this.has('recent') || this.dates !== undefined;
    return isAtLeast(this.loaded, wanted);
  }

  /** The latest prices are loaded first if there are many ticks; the rest follows in the background. */
  load(wanted: LoadLevel, clock: Clock): Promise<void> {
    return this.#loader.load(wanted, clock);
  }

  loadInBackground(clock: Clock): Promise<void> {
    return this.#loader.loadInBackground(clock);
  }

  /** Discards all prices. The next request loads them again, with a view for each of `lags`. */
  reset(lags = this.#lags): void {
    this.#isLoadStale = true;
    this.#lags = lags;
    this.histories?.dropColumns();
    this.dates = undefined;
    this.changeCount++;
    this.#forgetPrices();
  }

  /** Discards the history but keeps the recent days. */
  evict(): void {
    if (!hasHistory(this.loaded)) return;
    this.#isLoadStale = true; // a load of older days may have finished one of the two histories
    this.loaded = 'recent';
    this.histories?.dropColumns();
    this.#measure();
  }

  /** Applies new bars and ticks of the ledger. */
  apply(bars: readonly BarRevision[], ticks: readonly LedgerTick[], now: number): void {
    if (this.#loader.isLoading && !this.has('recent')) {
      this.#missedBars.push(...bars);
      this.#missedTicks.push(...ticks);
    }
    this.changeCount++;
    if (this.dates && !this.dates.stillHold(bars, ticks)) {
      this.dates = undefined;
      this.#changeAll(EVERY_DAY);
    }
    this.#add(bars, ticks, now);
  }

  #add(bars: readonly BarRevision[], ticks: readonly LedgerTick[], now: number): void {
    if (this.loaded === 'latest') this.#forgetPrices();
    if (!this.histories) return;
    if (this.histories.add(bars, ticks, now)) this.advance(now);
    else this.reset();
  }

  /** Advances the views to `now`. */
  advance(now: number): void {
    if (now >= this.#latestUntil) this.#forgetPrices();
    if (this.histories) for (const { index, from } of this.histories.advance(now)) this.#change(index, from);
    this.updateNextDue();
  }

  /** Call after every change, also of the lags. */
  updateNextDue(): void {
    this.nextDue = Math.min(this.#latestUntil, this.histories?.nextDue ?? Number.POSITIVE_INFINITY);
    this.#measure();
  }

  #measure(): void {
    const before = this.#bytes;
    this.#bytes = this.histories?.bytes ?? 0;
    if (this.#bytes !== before) this.#options.onResized(this, this.#bytes - before);
  }

  #onLoaded(): void {
    this.updateNextDue();
    this.#options.onLoaded(this.nextDue);
  }

  #readMissing(wanted: LoadLevel, now: number, onNextPage: () => Promise<void>): Promise<void> {
    const isExtended = hasHistory(wanted) && this.has('recent');
    return isExtended ? this.#readColumns(wanted, now) : this.#read(wanted, now, onNextPage);
  }

  async #read(wanted: LoadLevel, now: number, onNextPage: () => Promise<void>): Promise<void> {
    this.#isLoadStale = false;
    this.#missedBars = [];
    this.#missedTicks = [];
    const histories = await SymbolHistories.loadRecent(this.#source, now, onNextPage);
    if (hasHistory(wanted)) await histories.loadColumns(wanted, now);
    if (this.#isLoadStale) return; // the loader starts over
    this.histories = histories;
    this.loaded = wanted;
    this.#latestUntil = Number.POSITIVE_INFINITY;
    this.#renewVersions();
    this.#add(this.#missedBars, this.#missedTicks, now);
    this.#missedBars = [];
    this.#missedTicks = [];
    this.#onLoaded();
  }

  /** No view shows anything else afterwards, so versions stay as they are. */
  async #readColumns(wanted: LoadLevel, now: number): Promise<void> {
    this.#isLoadStale = false;
    await this.histories?.loadColumns(wanted, now);
    if (!this.#isLoadStale) this.loaded = wanted;
    this.#measure();
  }

  /** Reads the latest prices, unless they change meanwhile or everything is loaded first. */
  async #readLatest(now: number): Promise<boolean> {
    const { changeCount } = this;
    const histories = await SymbolHistories.loadLatest(this.#source, now);
    if (!histories) return false;
    if (this.changeCount !== changeCount || this.loaded !== 'nothing') return true;
    this.histories = histories;
    this.loaded = 'latest';
    this.#latestUntil = now + LATEST_MS_MAX;
    this.#renewVersions();
    this.#onLoaded();
    return true;
  }

  #forgetPrices(): void {
    this.histories = undefined;
    this.loaded = 'nothing';
    this.#latestUntil = Number.POSITIVE_INFINITY;
    this.updateNextDue();
    this.#renewVersions();
  }

  get #source(): HistorySource {
    const { ledger, showSimulated } = this.#options;
    return { ledger, showSimulated, symbol: this.symbol, lags: this.#lags };
  }

  #renewVersions(): void {
    this.versions = this.#lags.map(() => ++SymbolSeries.lastVersion);
    this.pastVersions = [...this.versions];
    this.newestDays = this.#lags.map((_, view) => this.#newestDay(view));
  }

  #changeAll(from: Day): void {
    for (const view of this.versions.keys()) this.#change(view, from);
  }

  /** A view shows something else of the days from `from` on. */
  #change(view: number, from: Day): void {
    const version = ++SymbolSeries.lastVersion;
    this.versions[view] = version;
    if (from < this.newestDays[view]!) this.pastVersions[view] = version;
    const newest = this.#newestDay(view);
    this.newestDays[view] = newest === SHOWS_NOTHING ? newest : Math.max(this.newestDays[view]!, newest);
  }

  #newestDay(view: number): Day {
    return this.histories?.visible(view)?.views[view]?.latest?.day ?? SHOWS_NOTHING;
  }
}
