import { type Ledger, type LedgerHead, mustReload } from '../ledger/ledger.ts';
import type { Clock } from '../runtime/clock.ts';
import { shouldYield, yieldToRequests } from '../runtime/yield.ts';
import { Catalog } from './catalog.ts';
import { readChangedBars } from './changed-bars.ts';
import { DateLoader } from './load-dates.ts';
import { NewestTimes } from './newest-times.ts';
import { levelFor, type RequiredData } from './series/load/load-level.ts';
import { type LoadOptions, loadTogether } from './series/load/load-together.ts';
import type { SymbolSeries } from './series/symbol-series.ts';
import { SeriesSet } from './series-set.ts';
import type { View } from './views/view.ts';
import { Views } from './views/views.ts';

export interface BoardOptions {
  ledger: Ledger;
  clock: Clock;
  /** Memory limit of loaded histories; the least recently used are evicted. */
  historyBytesMax: number;
  /** Whether symbols without real prices show their simulated ones. */
  simulated: boolean;
}

/** Symbols that a start loads. All others have few ticks or none, and are loaded within milliseconds. */
const BUSIEST_MAX = 200;

/**
 * A process that was paused, or could not reach the ledger, may lack millions of ticks: 200 MB for each million. Beyond this,
 * the prices are discarded, and requests load what they need.
 */
export const TICKS_FOLLOWED_MAX = 250_000;

/** The read model: what every plan sees now, in memory. It follows the ledger by its revision. */
export class Board {
  readonly #options: BoardOptions;
  readonly #series: SeriesSet;
  readonly #dates: DateLoader;
  readonly #sourceNames = new Map<number, string>();
  readonly #views: Views;
  #catalog: Catalog;
  #catalogRevision = 0;
  #head: LedgerHead;
  #following: Promise<void> = Promise.resolve();
  #listener: () => void = () => {};
  readonly newest = new NewestTimes();

  private constructor(options: BoardOptions, head: LedgerHead, hidesSimulated: boolean) {
    this.#options = options;
    this.#head = head;
    this.#series = new SeriesSet(options.ledger, { showSimulated: options.simulated, hidesSimulated });
    this.#views = new Views(options.clock, () => this.#series.onLagsChanged());
    this.#dates = new DateLoader(options.ledger);
    this.#catalog = new Catalog(
      { symbols: [], aliases: [], currencies: [], formulas: [] },
      this.#series.byId,
    );
  }

  static async open(options: BoardOptions, delaysMs: readonly number[]): Promise<Board> {
    const { ledger, simulated } = options;
    const hidesSimulated = !simulated && (await ledger.meta('demo')) === 'on';
    const board = new Board(options, await ledger.head(), hidesSimulated);
    board.#addDelays(delaysMs);
    await board.#readCatalog(board.revision);
    await board.newest.load(ledger);
    return board;
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  get epoch(): string {
    return this.#head.epoch;
  }

  /** The price revision of the ledger that this board has reached. */
  get revision(): number {
    return this.#head.prices;
  }

  /** Symbols and aliases have not changed between this revision and `revision`. */
  get catalogRevision(): number {
    return this.#catalogRevision;
  }

  /** The memory that loaded histories take. */
  get bytes(): number {
    return this.#series.bytes;
  }

  sourceName(id: number): string {
    return this.#sourceNames.get(id) ?? 'unknown';
  }

  /** The view of a delay. The first request with a new delay adds a view, which resets every series. */
  view(delayMs: number): View {
    const view = this.#views.get(delayMs);
    if (view) return view;
    this.#addDelays([delayMs]);
    this.#listener();
    return this.#views.get(delayMs)!;
  }

  /** Whether a price becomes visible in some view by `now`. */
  isDue(now: number): boolean {
    return now >= this.#series.nextDue;
  }

  /** Advances every view to `now` and loads what is missing of the series. Returns a promise only if it must read. */
  prepare(wanted: readonly SymbolSeries[], required: RequiredData, now: number): Promise<void> | undefined {
    if (this.isDue(now)) this.#advance(now);
    if (required === 'dates') this.#views.advance(now);
    return this.#series.use(wanted, required) ? undefined : this.#load(wanted, required);
  }

  /** The view shows at `now` what was recorded by this time. */
  horizon(view: View, now: number): number {
    return this.#views.horizon(view, now);
  }

  /** Like `prepare`, but repeats until everything is loaded: series may be evicted while others load. */
  async ready(wanted: readonly SymbolSeries[], required: RequiredData, now: number): Promise<void> {
    for (;;) {
      const loading = this.prepare(wanted, required, now);
      if (!loading) return;
      await loading;
    }
  }

  /** Loads the first and last dates of all symbols before the first request for them, as far as that needs no prices. */
  loadDates(): Promise<void> {
    return this.#loadDates([...this.#series.byId.values()]);
  }

  /** Loads the latest prices of all symbols, or two years of their histories as far as it fits into memory, until the signal. */
  async loadAhead(level: 'latest' | 'twoYears', signal: AbortSignal): Promise<void> {
    const { historyBytesMax } = this.#options;
    const isHistory = level === 'twoYears';
    const all = [...this.#series.byId.values()];
    // Others have many ticks, which load in the background.
    const wanted = isHistory ? all.filter((series) => series.has('recent')) : all;
    const mayContinue = () => !signal.aborted && !(isHistory && this.bytes >= historyBytesMax);
    await loadTogether(wanted, level, this.#loadOptions, mayContinue);
    await this.#finishLoad([]);
  }

  /** Loads the recent prices of the symbols with the most ticks, whose first request would otherwise wait longest. */
  async loadBusiest(signal: AbortSignal): Promise<void> {
    for (const id of await this.#options.ledger.ticks.busiest(BUSIEST_MAX)) {
      if (signal.aborted) return;
      await this.#loadInBackground(this.#series.byId.get(id));
    }
  }

  /** Calls the listener when views may show something else: prices arrived, became visible or were reset. */
  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  /** Sets when the feed of each symbol becomes late, in ms; undefined for a symbol without a feed. */
  setLateFrom(lateFrom: (code: string) => number | undefined): void {
    const now = this.#options.clock.now();
    for (const series of this.#series.byId.values()) {
      series.setLateFrom(lateFrom(series.symbol.code) ?? Number.POSITIVE_INFINITY, now);
    }
  }

  /** Applies everything up to `head`, and advances the views to now. */
  follow(head: LedgerHead): Promise<void> {
    this.#following = this.#following
      .catch(() => {})
      .then(async () => {
        if (head.epoch !== this.#head.epoch || head.prices !== this.#head.prices) {
          await this.#follow(head);
          this.#listener();
        }
        this.#views.checkClock();
        const now = this.#options.clock.now();
        if (this.isDue(now)) this.#advance(now);
      });
    return this.#following;
  }

  /** Updates symbols and sources but no prices, for a reader thread, which reads prices from the ledger. */
  async followCatalog(): Promise<void> {
    const { ledger } = this.#options;
    const head = await ledger.head();
    const mine = this.#head;
    if (head.epoch === mine.epoch && head.prices === mine.prices) return;
    if (mustReload(mine, head, 'prices') || (await ledger.symbols.changedBetween(mine.prices, head.prices)))
      await this.#readCatalog(head.prices);
    else await this.#readSourceNames();
    this.#head = head;
  }

  async #load(wanted: readonly SymbolSeries[], required: RequiredData): Promise<void> {
    // Adding a view while a series loads resets them all, so repeat until all are loaded.
    while (wanted.some((series) => !series.has(required))) {
      if (required === 'dates') await this.#loadDates(wanted);
      const missing = wanted.filter((series) => !series.has(required));
      await loadTogether(missing, levelFor(required, wanted.length), this.#loadOptions);
    }
    await this.#finishLoad(wanted);
  }

  get #loadOptions(): LoadOptions {
    const { ledger, clock } = this.#options;
    return { ledger, clock, beforeEach: () => this.#views.checkClock() };
  }

  async #finishLoad(loaded: readonly SymbolSeries[]): Promise<void> {
    const { clock, historyBytesMax } = this.#options;
    await this.#readSourceNames();
    this.#series.evict(historyBytesMax, loaded);
    if (this.isDue(clock.now())) this.#advance(clock.now());
  }

  async #loadInBackground(series: SymbolSeries | undefined): Promise<void> {
    if (!series || series.has('recent')) return;
    this.#views.checkClock();
    await series.loadInBackground(this.#options.clock);
    await this.#finishLoad([series]);
  }

  #loadDates(wanted: readonly SymbolSeries[]): Promise<void> {
    return this.#dates.load(wanted, () => this.#options.clock.now() - this.#views.lagsMs.at(-1)!);
  }

  async #follow(head: LedgerHead): Promise<void> {
    if (mustReload(this.#head, head, 'prices') || !(await this.#applyChanges(head))) {
      await this.#readCatalog(head.prices);
      this.#series.reset();
      await this.newest.load(this.#options.ledger);
      this.#head = head; // last, so that the next call starts over if the ledger fails
      return;
    }
    this.#head = head;
    await this.newest.loadWrite(this.#options.ledger);
    this.#series.updateNextDue();
  }

  /** Returns false if there are too many. */
  async #applyChanges(head: LedgerHead): Promise<boolean> {
    const { ledger, clock } = this.#options;
    const from = this.#head.prices;
    const newTicks = await ledger.ticks.since(from, head.prices, TICKS_FOLLOWED_MAX);
    if (!newTicks) return false;
    if (await ledger.symbols.changedBetween(from, head.prices)) await this.#readCatalog(head.prices);
    const { byId } = this.#series;
    const ticks = Map.groupBy(newTicks, (tick) => tick.symbolId);
    const bars = await readChangedBars(ledger, from, head.prices, (symbolId, lastDay) => {
      const series = byId.get(symbolId);
      if (series) this.newest.addBar(series.symbol.market, lastDay);
    });
    await this.#readSourceNames();
    this.#views.checkClock();
    const now = clock.now();
    for (const id of new Set([...ticks.keys(), ...bars.keys()])) {
      if (shouldYield()) await yieldToRequests();
      for (const { at } of ticks.get(id) ?? []) this.newest.addTick(at);
      const changed = bars.get(id) ?? [];
      const series = byId.get(id);
      if (changed === 'many') series?.reset();
      else series?.apply(changed, ticks.get(id) ?? [], now);
    }
    return true;
  }

  async #readCatalog(revision: number): Promise<void> {
    const { ledger } = this.#options;
    const symbols = await ledger.symbols.list();
    const aliases = await ledger.symbols.aliases();
    const currencies = await ledger.symbols.currencies();
    this.#series.update([...symbols, ...currencies], this.#views.lagsMs);
    const formulas = await ledger.formulas.list();
    this.#catalog = new Catalog({ symbols, aliases, currencies, formulas }, this.#series.byId);
    this.#catalogRevision = revision;
    await this.#readSourceNames();
  }

  async #readSourceNames(): Promise<void> {
    for (const [id, name] of await this.#options.ledger.sources.names()) this.#sourceNames.set(id, name);
  }

  #addDelays(delaysMs: readonly number[]): void {
    this.#views.add(delaysMs);
    this.#series.reset(this.#views.lagsMs);
  }

  #advance(now: number): void {
    this.#views.checkClock();
    this.#series.advance(now);
    this.#listener();
  }
}
