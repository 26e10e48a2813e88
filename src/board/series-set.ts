import type { Ledger } from '../ledger/ledger.ts';
import type { LedgerSymbol } from '../ledger/symbols/symbols.ts';
import type { RequiredData } from './series/load/load-level.ts';
import { LoadQueue } from './series/load/series-load.ts';
import type { ViewLags } from './series/price-types.ts';
import { type SeriesOptions, SymbolSeries } from './series/symbol-series.ts';

type SimulatedOptions = Pick<SeriesOptions, 'showSimulated' | 'hidesSimulated'>;

/** The series of all symbols and currencies, by id, and which of them to evict or to advance. */
export class SeriesSet {
  readonly #options: SeriesOptions;
  readonly byId = new Map<number, SymbolSeries>();
  #uses = 0;
  /**
   * The loaded series when they were last sorted, the least recently used last. One that was used since is skipped. With a full
   * memory, each load of thousands evicts another, and sorting them all would take as long as the load.
   */
  #byUse: { series: SymbolSeries; lastUsed: number }[] = [];
  /** When the next price becomes visible in some view, in ms, or earlier. */
  nextDue = Number.POSITIVE_INFINITY;
  /** The memory that loaded histories take. Each load needs it, so it is not a sum over thousands of symbols. */
  bytes = 0;

  constructor(ledger: Ledger, { showSimulated, hidesSimulated }: SimulatedOptions) {
    this.#options = {
      ledger,
      queue: new LoadQueue(),
      showSimulated,
      hidesSimulated,
      onLoaded: (due) => {
        this.nextDue = Math.min(this.nextDue, due);
      },
      onResized: (series, more) => {
        if (this.byId.get(series.symbol.id) === series) this.bytes += more;
      },
    };
  }

  /** Adds and removes series, so that there is one for each of these symbols. */
  update(symbols: readonly LedgerSymbol[], lags: ViewLags): void {
    const ids = new Set(symbols.map(({ id }) => id));
    for (const [id, series] of this.byId) {
      if (ids.has(id)) continue;
      series.reset();
      this.byId.delete(id);
    }
    for (const symbol of symbols) {
      const known = this.byId.get(symbol.id);
      if (!known) {
        this.byId.set(symbol.id, new SymbolSeries(symbol, this.#options, lags));
        continue;
      }
      if (known.symbol.market !== symbol.market) known.reset(); // its sessions end at another time
      known.symbol = symbol;
    }
  }

  /** Discards all prices; `lags` has an entry for each view. */
  reset(lags?: ViewLags): void {
    for (const series of this.byId.values()) series.reset(lags);
  }

  /** Marks these series as most recently used. Returns whether all of them have the required data. */
  use(wanted: readonly SymbolSeries[], required: RequiredData): boolean {
    this.#uses++;
    let hasAll = true;
    for (const series of wanted) {
      series.lastUsed = this.#uses;
      if (!series.has(required)) hasAll = false;
    }
    return hasAll;
  }

  advance(now: number): void {
    this.nextDue = Number.POSITIVE_INFINITY;
    for (const series of this.byId.values()) {
      if (now >= series.nextDue) series.advance(now);
      this.nextDue = Math.min(this.nextDue, series.nextDue);
    }
  }

  /** Call when the lags of the views have changed. */
  onLagsChanged(): void {
    for (const series of this.byId.values()) series.updateNextDue();
    this.updateNextDue();
  }

  updateNextDue(): void {
    this.nextDue = Number.POSITIVE_INFINITY;
    for (const series of this.byId.values()) this.nextDue = Math.min(this.nextDue, series.nextDue);
  }

  /** Evicts the least recently used histories until the rest fits. Never evicts those in use. */
  evict(bytesMax: number, inUse: readonly SymbolSeries[]): void {
    if (this.bytes <= bytesMax) return;
    const kept = new Set(inUse);
    if (this.#evictSorted(bytesMax, kept)) return;
    const loaded = [...this.byId.values()].filter(({ bytes }) => bytes > 0);
    this.#byUse = loaded.map((series) => ({ series, lastUsed: series.lastUsed }));
    this.#byUse.sort((a, b) => b.lastUsed - a.lastUsed);
    this.#evictSorted(bytesMax, kept);
  }

  /** Returns whether the rest fits. */
  #evictSorted(bytesMax: number, kept: ReadonlySet<SymbolSeries>): boolean {
    while (this.bytes > bytesMax) {
      const oldest = this.#byUse.pop();
      if (!oldest) return false;
      const { series, lastUsed } = oldest;
      if (series.lastUsed === lastUsed && !kept.has(series)) series.evict();
    }
    return true;
  }
}
