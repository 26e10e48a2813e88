import type { Board } from '../../board/board.ts';
import type { LatestPrice } from '../../board/series/price-types.ts';
import type { View } from '../../board/views/view.ts';
import { printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import { printAt } from '../endpoints/rates/latest.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import { measureJson, sourcesJson } from '../response/json.ts';

/** One symbol as one view shows it. Its event is serialized once for all subscribers. */
export class Topic {
  readonly requested: RequestedSymbol;
  /** Sequence number of its last change among all changes of the view; 0 while it has no price. */
  sequence = 0;
  /** The serialized event, without its id. */
  event = '';
  #version = -1;
  #shown: LatestPrice | undefined;

  constructor(requested: RequestedSymbol) {
    this.requested = requested;
  }

  /** Returns whether the view shows a new price. The series must be loaded. */
  update(view: View, board: Board, nextSequence: () => number): boolean {
    const { series } = this.requested;
    const version = view.version(series);
    if (version === this.#version) return false;
    this.#version = version;
    const latest = view.latest(series);
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

  #json(latest: LatestPrice, board: Board): string {
    const { unit, currency } = this.requested.series.symbol;
    const measure = measureJson({ unit: unit.symbol, quote: currency.code });
    const source = sourcesJson(board, [latest.sourceId]);
    return `{"symbol":${JSON.stringify(this.requested.code)},"rate":${printNumber(latest.price)},"date":"${printDay(latest.day)}","at":"${printAt(latest)}",${measure},"source":${source}}`;
  }
}

function isSame(a: LatestPrice, b: LatestPrice | undefined): boolean {
  return (
    b !== undefined && a.price === b.price && a.day === b.day && a.at === b.at && a.sourceId === b.sourceId
  );
}
