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
  /** When the next price becomes visible in some view, in ms. */
  nextDue = Number.POSITIVE_INFINITY;

  constructor(ledger: Ledger, { showSimulated, hidesSimulated }: SimulatedOptions) {
    this.#options = {
      ledger,
      queue: new LoadQueue(),
      showSimulated,
      hidesSimulated,
      onLoaded: (due) => {
        this.nextDue = Math.min(this.nextDue, due);
      },
    };
  }

  /** The memory that loaded histories take. */
  get bytes(): number {
    let sum = 0;
    for (const series of this.byId.values()) sum += series.bytes;
    return sum;
  }

  /** Adds and removes series, so that there is one for each of these symbols. */
  update(symbols: readonly LedgerSymbol[], lags: ViewLags): void {
    const ids = new Set(symbols.map(({ id }) => id));
    for (const id of this.byId.keys()) if (!ids.has(id)) this.byId.delete(id);
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
    for (const series of this.byId.values()) if (now >= series.nextDue) series.advance(now);
    this.updateNextDue();
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
    let bytes = this.bytes;
    if (bytes <= bytesMax) return;
    const kept = new Set(inUse);
    const candidates = [...this.byId.values()].filter((series) => !kept.has(series));
    candidates.sort((a, b) => a.lastUsed - b.lastUsed);
    for (const series of candidates) {
      if (bytes <= bytesMax) return;
      bytes -= series.bytes;
      series.evict();
    }
  }
}
