import { type Head, type Ledger, mustReload } from '../ledger/ledger.ts';
import type { BarRevision } from '../ledger/prices/bars.ts';
import type { Clock } from '../runtime/clock.ts';
import { shouldYield, yieldToRequests } from '../runtime/yield.ts';
import { Catalog } from './catalog.ts';
import { loadDates } from './load-dates.ts';
import { Newest } from './newest.ts';
import { type RequiredData, Series } from './series/series.ts';
import type { View } from './views/view.ts';
import { Views } from './views/views.ts';

export interface BoardOptions {
  ledger: Ledger;
  clock: Clock;
  /** How much history may be in memory; the least used is let go of. */
  historyBytesMax: number;
  /** Whether symbols without real prices show their simulated ones. */
  simulated: boolean;
}

/** A change that touches more days than this is not taken in bar by bar: the series is loaded anew when asked for. */
const DAYS_PER_CHANGE_MAX = 400;

/** The read model: what every plan sees now, in memory, following the ledger by its revision. */
export class Board {
  readonly #options: BoardOptions;
  readonly #series = new Map<number, Series>();
  readonly #sourceNames = new Map<number, string>();
  readonly #views: Views;
  #catalog: Catalog;
  #catalogRevision = 0;
  #head: Head;
  #nextDue = Number.POSITIVE_INFINITY;
  #uses = 0;
  #following: Promise<void> = Promise.resolve();
  #listener: () => void = () => {};
  #loadingDates: Promise<void> | undefined;
  readonly newest = new Newest();

  private constructor(options: BoardOptions, head: Head) {
    this.#options = options;
    this.#head = head;
    this.#views = new Views(options.clock);
    this.#catalog = new Catalog([], [], [], this.#series);
  }

  static async open(options: BoardOptions, delaysMs: readonly number[]): Promise<Board> {
    const board = new Board(options, await options.ledger.head());
    board.#addDelays(delaysMs);
    await board.#readCatalog(board.revision);
    await board.newest.load(options.ledger);
    return board;
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  get epoch(): string {
    return this.#head.epoch;
  }

  /** The ledger's price revision up to which this board has followed. */
  get revision(): number {
    return this.#head.prices;
  }

  /** Symbols and aliases have not changed between this revision and `revision`. */
  get catalogRevision(): number {
    return this.#catalogRevision;
  }

  /** How much history is in memory. */
  get bytes(): number {
    let sum = 0;
    for (const series of this.#series.values()) sum += series.bytes;
    return sum;
  }

  sourceName(id: number): string {
    return this.#sourceNames.get(id) ?? 'unknown';
  }

  /** The view of a delay. The first request with a new delay makes all series be loaded anew, with one view more. */
  view(delayMs: number): View {
    const view = this.#views.get(delayMs);
    if (view) return view;
    this.#addDelays([delayMs]);
    return this.#views.get(delayMs)!;
  }

  /** Whether a view has something to take in at `now`. */
  isDue(now: number): boolean {
    return now >= this.#nextDue;
  }

  /** Sees to it that the series are in memory and that every view stands at `now`. A promise only when it must read. */
  prepare(wanted: readonly Series[], needed: RequiredData, now: number): Promise<void> | undefined {
    if (this.isDue(now)) this.#advance(now);
    if (needed === 'dates') this.#views.moveTo(now);
    this.#uses++;
    let missing = false;
    for (const series of wanted) {
      series.lastUsed = this.#uses;
      if (!series.has(needed)) missing = true;
    }
    return missing ? this.#load(wanted, needed) : undefined;
  }

  /** What came in by this moment, and no later, is what the view shows at `now`. */
  horizon(view: View, now: number): number {
    return this.#views.horizon(view, now);
  }

  /** The same, until all of it is there: what was loaded can be let go of again while others were waited for. */
  async ready(wanted: readonly Series[], needed: RequiredData, now: number): Promise<void> {
    for (;;) {
      const loading = this.prepare(wanted, needed, now);
      if (!loading) return;
      await loading;
    }
  }

  /** Loads the dates of all symbols ahead of the first request that asks for them, where that takes none of their prices. */
  loadDates(): Promise<void> {
    return this.#loadDates([...this.#series.values()]);
  }

  /** Calls when views may show something else: prices came in, came of age, or are to be loaded anew. */
  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  /** Says from when on the feed of each symbol is late, in ms; undefined where no feed brings it. */
  setLateFrom(lateFrom: (code: string) => number | undefined): void {
    for (const series of this.#series.values()) {
      series.lateFrom = lateFrom(series.symbol.code) ?? Number.POSITIVE_INFINITY;
    }
  }

  /** Takes in everything up to where the ledger stands, and moves delayed views on to now. */
  follow(head: Head): Promise<void> {
    this.#following = this.#following
      .catch(() => {})
      .then(async () => {
        if (head.epoch !== this.#head.epoch || head.prices !== this.#head.prices) {
          await this.#follow(head);
          this.#listener();
        }
        if (this.#views.lookAtClock()) this.#setNextDue();
        const now = this.#options.clock.now();
        if (this.isDue(now)) this.#advance(now);
      });
    return this.#following;
  }

  /** Brings symbols and sources up to date, and no prices: for a reader thread, which reads those from the ledger. */
  async followCatalog(): Promise<void> {
    const { ledger } = this.#options;
    const head = await ledger.head();
    const mine = this.#head;
    if (head.epoch === mine.epoch && head.prices === mine.prices) return;
    if (mustReload(mine, head, 'prices') || (await ledger.symbols.changedBetween(mine.prices, head.prices)))
      await this.#readCatalog(head.prices);
    else await this.#nameSources();
    this.#head = head;
  }

  async #load(wanted: readonly Series[], needed: RequiredData): Promise<void> {
    const { clock } = this.#options;
    // A view may have been added while another series was read, which resets all: so until all are there.
    while (wanted.some((series) => !series.has(needed))) {
      if (needed === 'dates') await this.#loadDates(wanted);
      for (const series of wanted) {
        if (series.has(needed)) continue;
        if (shouldYield()) await yieldToRequests();
        this.#views.lookAtClock();
        await series.load(needed === 'dates' ? 'recent' : needed, clock);
      }
    }
    await this.#nameSources();
    this.#evict(wanted);
    this.#setNextDue();
    if (clock.now() >= this.#nextDue) this.#advance(clock.now());
  }

  /** One request at a time: the others most likely need the same dates. */
  async #loadDates(wanted: readonly Series[]): Promise<void> {
    while (this.#loadingDates) await this.#loadingDates.catch(() => {});
    const missing = wanted.filter((series) => !series.has('dates'));
    if (missing.length === 0) return;
    const { ledger, clock } = this.#options;
    this.#loadingDates = loadDates(ledger, missing, clock.now() - this.#views.behind.at(-1)!);
    try {
      await this.#loadingDates;
    } finally {
      this.#loadingDates = undefined;
    }
  }

  async #follow(head: Head): Promise<void> {
    const { ledger, clock } = this.#options;
    if (mustReload(this.#head, head, 'prices')) {
      await this.#readCatalog(head.prices);
      for (const series of this.#series.values()) series.reset();
      await this.newest.load(ledger);
      this.#head = head; // last: when the ledger fails on the way, the next turn begins again
      return;
    }
    const mine = this.#head.prices;
    if (await ledger.symbols.changedBetween(mine, head.prices)) await this.#readCatalog(head.prices);
    const ticks = Map.groupBy(await ledger.ticks.since(mine, head.prices), (tick) => tick.symbolId);
    const bars = await this.#changedBars(mine, head.prices);
    await this.#nameSources();
    this.#views.lookAtClock();
    const now = clock.now();
    for (const id of new Set([...ticks.keys(), ...bars.keys()])) {
      if (shouldYield()) await yieldToRequests();
      for (const { at } of ticks.get(id) ?? []) this.newest.seeTick(at);
      const changed = bars.get(id) ?? [];
      const series = this.#series.get(id);
      if (changed === 'many') series?.reset();
      else series?.apply(changed, ticks.get(id) ?? [], now);
    }
    this.#head = head;
    await this.newest.loadWrite(ledger);
    this.#setNextDue();
  }

  async #changedBars(mine: number, upTo: number): Promise<Map<number, BarRevision[] | 'many'>> {
    const { ledger } = this.#options;
    const found = new Map<number, BarRevision[] | 'many'>();
    for (const { symbolId, firstDay, lastDay } of await ledger.bars.changes(mine, upTo)) {
      if (shouldYield()) await yieldToRequests();
      const series = this.#series.get(symbolId);
      if (series) this.newest.seeBar(series.symbol.market, lastDay);
      if (lastDay - firstDay > DAYS_PER_CHANGE_MAX) {
        found.set(symbolId, 'many');
        continue;
      }
      const revisions = await ledger.bars.revisions(symbolId, 'all', firstDay, lastDay);
      found.set(
        symbolId,
        revisions.filter((bar) => bar.revision > mine),
      );
    }
    return found;
  }

  async #readCatalog(revision: number): Promise<void> {
    const { ledger, simulated } = this.#options;
    const symbols = await ledger.symbols.list();
    const aliases = await ledger.symbols.aliases();
    const currencies = await ledger.symbols.currencies();
    const listed = [...symbols, ...currencies];
    const ids = new Set(listed.map(({ id }) => id));
    for (const id of this.#series.keys()) if (!ids.has(id)) this.#series.delete(id); // it was deleted
    for (const symbol of listed) {
      const known = this.#series.get(symbol.id);
      if (!known) {
        this.#series.set(symbol.id, new Series(symbol, ledger, this.#views.behind, simulated));
        continue;
      }
      if (known.symbol.market !== symbol.market) known.reset(); // its sessions end at another time
      known.symbol = symbol;
    }
    this.#catalog = new Catalog(symbols, aliases, currencies, this.#series);
    this.#catalogRevision = revision;
    await this.#nameSources();
  }

  async #nameSources(): Promise<void> {
    for (const [id, name] of await this.#options.ledger.sources.names()) this.#sourceNames.set(id, name);
  }

  #addDelays(delaysMs: readonly number[]): void {
    this.#views.add(delaysMs);
    for (const series of this.#series.values()) series.reset(this.#views.behind);
  }

  #advance(now: number): void {
    this.#views.lookAtClock();
    for (const series of this.#series.values()) if (now >= series.nextDue) series.advance(now);
    this.#setNextDue();
    this.#listener();
  }

  #setNextDue(): void {
    this.#nextDue = Number.POSITIVE_INFINITY;
    for (const series of this.#series.values()) this.#nextDue = Math.min(this.#nextDue, series.nextDue);
  }

  #evict(inUse: readonly Series[]): void {
    let bytes = this.bytes;
    if (bytes <= this.#options.historyBytesMax) return;
    const byAge = [...this.#series.values()].filter((series) => !inUse.includes(series));
    byAge.sort((a, b) => a.lastUsed - b.lastUsed);
    for (const series of byAge) {
      if (bytes <= this.#options.historyBytesMax) return;
      bytes -= series.bytes;
      series.evict();
    }
  }
}
