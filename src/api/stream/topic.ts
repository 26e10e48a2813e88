import type { Board } from '../../board/board.ts';
import type { Catalog } from '../../board/catalog.ts';
import { FormulaSeries } from '../../board/series/formula-series.ts';
import type { LatestPrice } from '../../board/series/price-types.ts';
import type { Series } from '../../board/series/series.ts';
import type { SymbolSeries } from '../../board/series/symbol-series.ts';
import type { View } from '../../board/views/view.ts';
import { printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import { printAt } from '../endpoints/rates/latest.ts';
import { Refusal } from '../errors/errors.ts';
import { symbolSeriesOf } from '../formulas/formula-parts.ts';
import { FormulaPrices } from '../formulas/formula-prices.ts';
import { namedFormulas } from '../formulas/named-formulas.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import { measureJson, sourceIdsOf, sourcesJson } from '../response/json.ts';

/** One symbol as one view shows it. Its event is serialized once for all subscribers. */
export class Topic {
  readonly requested: RequestedSymbol;
  /** The series that must be loaded: that of the symbol, or those of the symbols in a formula. */
  readonly series: readonly SymbolSeries[];
  /** Sequence number of its last change among all changes of the view; 0 while it has no price. */
  sequence = 0;
  /** The serialized event, without its id. */
  event = '';
  /** Unit and currency. A symbol's can be corrected. */
  readonly #measure: string;
  #version = -1;
  #shown: LatestPrice | undefined;

  constructor(requested: RequestedSymbol) {
    this.requested = requested;
    this.series = symbolSeriesOf([requested]);
    this.#measure = measureOf(requested.series);
  }

  /** Whether it shows the same symbol or formula, in the same unit and currency: both may have been defined again. */
  isFor({ series }: RequestedSymbol): boolean {
    const own = this.requested.series;
    const areFormulas = series instanceof FormulaSeries && own instanceof FormulaSeries;
    const isSame = areFormulas ? series.isSameAs(own) : series === own;
    return isSame && measureOf(series) === this.#measure;
  }

  /** Whether its code still stands for this symbol or formula. */
  isIn(catalog: Catalog): boolean {
    const { code, series } = this.requested;
    if (series instanceof FormulaSeries && series.kind === 'ad hoc') {
      const isUnmoved = series.parts.every((part) => catalog.find(part.code) === part.series);
      return isUnmoved && measureOf(series) === this.#measure;
    }
    const found = catalog.find(code) ?? namedFormulas(catalog).get(code);
    return found !== undefined && this.isFor({ code, series: found });
  }

  /** Whether it can be forgotten some time after its last subscriber: there is no limit to the number of ad hoc formulas. */
  get isTransient(): boolean {
    const { series } = this.requested;
    return series instanceof FormulaSeries && series.kind === 'ad hoc';
  }

  /** Returns whether the view shows a new price. A topic whose series were unloaded stays as it is until they are loaded. */
  update(view: View, board: Board, nextSequence: () => number): boolean {
    if (!this.series.every((series) => series.has('recent'))) return false;
    const version = Math.max(...this.series.map((series) => view.version(series)));
    if (version === this.#version) return false;
    this.#version = version;
    const latest = this.#latest(view);
    if (!latest) {
      this.sequence = 0; // the price was withdrawn, so the old one is no longer sent
      this.#shown = undefined;
      return false;
    }
    if (isSame(latest, this.#shown)) return false;
    this.#shown = latest;
    this.sequence = nextSequence();
    this.event = `event: rate\ndata: ${this.#json(latest, board)}\n\n`;
    return true;
  }

  /** A formula that divides by zero has no price. */
  #latest(view: View): LatestPrice | undefined {
    const { series } = this.requested;
    if (!(series instanceof FormulaSeries)) return view.latest(series);
    try {
      return new FormulaPrices(view, series.kind).latest(series);
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }

  #json(latest: LatestPrice, board: Board): string {
    const source = sourcesJson(board, sourceIdsOf([latest]));
    return `{"symbol":${JSON.stringify(this.requested.code)},"rate":${printNumber(latest.price)},"date":"${printDay(latest.day)}","at":"${printAt(latest)}",${this.#measure},"source":${source}}`;
  }
}

/** In JSON, as the catalogue says now. */
function measureOf(series: Series): string {
  const ofSymbol = ({ symbol }: SymbolSeries) => ({ unit: symbol.unit.symbol, quote: symbol.currency.code });
  return measureJson(series instanceof FormulaSeries ? series.measure(ofSymbol) : ofSymbol(series));
}

function isSame(a: LatestPrice, b: LatestPrice | undefined): boolean {
  return (
    b !== undefined && a.price === b.price && a.day === b.day && a.at === b.at && a.sourceId === b.sourceId
  );
}
