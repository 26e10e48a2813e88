import type { Ledger } from '../../ledger/ledger.ts';
import type { BarRevision } from '../../ledger/prices/bars.ts';
import { SIMULATED_ID } from '../../ledger/symbols/sources.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { LedgerTick } from '../../ledger/ticks/tick.ts';
import { tickSeenFrom } from '../../market/visibility.ts';
import { type ChangedView, EVERY_DAY } from './delayed-view.ts';
import type { LoadLevel } from './load/load-level.ts';
import { PriceHistory } from './price-history.ts';
import type { ViewLags } from './price-types.ts';

export interface HistorySource {
  ledger: Ledger;
  symbol: LedgerSymbol;
  lags: ViewLags;
  showSimulated: boolean;
}

/**
 * The real history of a symbol and, until every view shows real prices, its simulated one. A view shows one or the other,
 * never both.
 */
export class SymbolHistories {
  readonly #real: PriceHistory;
  #simulated: PriceHistory | undefined;

  private constructor({ ledger, symbol, lags }: HistorySource) {
    this.#real = new PriceHistory(ledger, symbol, 'real', lags);
  }

  /** Waits for `onNextPage` before each page of ticks. */
  static async loadRecent(
    source: HistorySource,
    now: number,
    onNextPage: () => Promise<void>,
  ): Promise<SymbolHistories> {
    const histories = new SymbolHistories(source);
    await histories.#real.loadRecent(now, onNextPage);
    histories.#addSimulated(source);
    await histories.#simulated?.loadRecent(now, onNextPage);
    return histories;
  }

  /** Reads only the latest prices. Undefined if they depend on more ticks than the last ones. */
  static async loadLatest(source: HistorySource, now: number): Promise<SymbolHistories | undefined> {
    const histories = new SymbolHistories(source);
    if (!(await histories.#real.loadLatest(now))) return undefined;
    histories.#addSimulated(source);
    const simulated = histories.#simulated;
    if (simulated && !(await simulated.loadLatest(now))) return undefined;
    return histories;
  }

  #addSimulated({ ledger, symbol, lags, showSimulated }: HistorySource): void {
    if (!showSimulated || this.#real.isVisibleInAllViews) return;
    this.#simulated = new PriceHistory(ledger, symbol, 'simulated', lags);
  }

  /** The history that a view shows; undefined if it shows no prices. */
  visible(view: number): PriceHistory | undefined {
    if (this.#real.views[view]?.latest) return this.#real;
    if (this.#simulated?.views[view]?.latest) return this.#simulated;
    return undefined;
  }

  get bytes(): number {
    return (this.#real.settled.columns?.bytes ?? 0) + (this.#simulated?.settled.columns?.bytes ?? 0);
  }

  /** When the next price becomes visible in some view, in ms. */
  get nextDue(): number {
    return Math.min(this.#real.nextDue, this.#simulated?.nextDue ?? Number.POSITIVE_INFINITY);
  }

  /** Adds the settled prices to recent ones. No view shows anything else afterwards. */
  async loadColumns(level: LoadLevel, now: number): Promise<void> {
    await this.#real.loadColumns(level, now);
    await this.#simulated?.loadColumns(level, now);
  }

  dropColumns(): void {
    this.#real.dropColumns();
    this.#simulated?.dropColumns();
  }

  /** Adds new prices. Returns false if the histories must be reloaded instead. */
  add(bars: readonly BarRevision[], ticks: readonly LedgerTick[], now: number): boolean {
    for (const bar of bars) {
      const history = this.#historyOf(bar);
      if (history?.mustReload(bar)) return false;
      history?.addBar(bar, now);
    }
    // A push is one revision, with ticks in the order of their ids. The tick log needs them in the order of visibility.
    for (const tick of ticks.toSorted((a, b) => tickSeenFrom(a) - tickSeenFrom(b))) {
      if (this.#historyOf(tick)?.addTick(tick, now) === false) return false;
    }
    return true;
  }

  /** Advances the views to `now`. Yields those that show something new: first of simulated prices, then of real ones. */
  *advance(now: number): Iterable<ChangedView> {
    const simulated = this.#simulated;
    if (simulated) yield* simulated.advance(now);
    // A first real price replaces the whole simulated history.
    for (const { index, from } of this.#real.advance(now))
      yield { index, from: simulated ? EVERY_DAY : from };
    if (!simulated || !this.#real.isVisibleInAllViews) return;
    simulated.dropColumns();
    this.#simulated = undefined;
  }

  #historyOf({ sourceId }: { sourceId: number }): PriceHistory | undefined {
    return sourceId === SIMULATED_ID ? this.#simulated : this.#real;
  }
}
