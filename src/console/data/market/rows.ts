import type { MarketSymbol, Quote } from '../../api/answers.ts';

/** What is shown of one symbol. */
export interface MarketRow {
  quote: Quote;
  /** The closes of the last days, oldest first, without the quote's own day. */
  closes: readonly number[];
  /** The direction of the last change; reset to 0 shortly after. */
  direction: -1 | 0 | 1;
}

/** Whether its market opens and closes: a monthly average has no market. */
export function hasMarketHours({ updateInterval }: MarketSymbol): boolean {
  return updateInterval === 'minute' || updateInterval === 'day';
}

/** For how long a price that moved is coloured. */
const HIGHLIGHT_MS = 900;

/** The rows of a market, which change one by one. */
export class MarketRows {
  readonly #rows = new Map<string, MarketRow>();
  readonly #watchers = new Map<string, Set<() => void>>();
  #highlightTimer: ReturnType<typeof setTimeout> | undefined;

  get(code: string): MarketRow | undefined {
    return this.#rows.get(code);
  }

  has(code: string): boolean {
    return this.#rows.has(code);
  }

  /** Calls back when the row of a symbol changes. */
  watch(code: string, onChange: () => void): () => void {
    const watchers = this.#watchers.get(code) ?? new Set();
    this.#watchers.set(code, watchers);
    watchers.add(onChange);
    return () => {
      watchers.delete(onChange);
    };
  }

  /** Replaces a row, with the closes of the last days. */
  load(code: string, quote: Quote, closes: readonly number[]): void {
    this.#set(code, { quote, closes, direction: 0 });
  }

  /**
   * Continues a row with a newer quote. Returns false if its closes do not lead up to that and have to be loaded again, as after
   * an import of several days.
   */
  update(code: string, quote: Quote): boolean {
    const known = this.#rows.get(code);
    const closes = known?.closes ?? [];
    if (!known || known.quote.date !== quote.date) {
      this.#set(code, {
        quote,
        closes: quote.before ? [...closes, quote.before.close] : closes,
        direction: 0,
      });
      return quote.before?.date === known?.quote.date;
    }
    if (JSON.stringify(known.quote) === JSON.stringify(quote)) return true;
    const direction = Math.sign(quote.rate - known.quote.rate) as MarketRow['direction'];
    this.#set(code, { quote, closes, direction });
    if (direction !== 0) this.#endHighlightLater();
    return JSON.stringify(known.quote.before) === JSON.stringify(quote.before);
  }

  /** Sets and removes a color, which renders twice; an animation would render every row sixty times a second. */
  #endHighlightLater(): void {
    this.#highlightTimer ??= setTimeout(() => {
      this.#highlightTimer = undefined;
      for (const [code, row] of this.#rows) {
        if (row.direction !== 0) this.#set(code, { ...row, direction: 0 });
      }
    }, HIGHLIGHT_MS);
  }

  #set(code: string, row: MarketRow): void {
    this.#rows.set(code, row);
    for (const onChange of this.#watchers.get(code) ?? []) onChange();
  }
}

/** The change since the close before, if there is one. */
export function changeOf({ rate, before }: Pick<Quote, 'rate' | 'before'>) {
  if (!before || before.close === 0) return undefined;
  const absolute = rate - before.close;
  return { absolute, percent: (absolute / Math.abs(before.close)) * 100 };
}
