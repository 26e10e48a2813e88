import type { MarketAnswer, MarketSymbol, Quote, QuotesAnswer } from '../../api/answers.ts';
import { askWithKey, clientOf, isOutage, messageOf, OpenpitError } from '../../api/client.ts';
import type { Searchable } from '../../search/match.ts';
import { formulaSymbol, isFormula, OPERAND } from '../formula.ts';
import { MarketRows } from './rows.ts';

export type LiveState = 'connecting' | 'live' | 'lost' | { refused: string };

/** As often as the service renews its quotes. */
const POLL_MS = 5_000;

/** After a refusal, such as a used-up quota. */
const POLL_REFUSED_MS = 30_000;

/** Prices that moved in a longer pause are missing in the last bar of a chart, or were in bars of their own. */
const PAUSE_MS = 10 * 60_000;

const VISIT = 'openpit.visit';

const NOTHING: Searchable = { symbols: [], formulas: [], aliases: {}, isComplete: false };

/**
 * The market of one key. It is loaded once, for one unit, which also pays for its newer quotes. All pages share it, so going
 * from one to another costs nothing and shows at once what is known.
 */
export class MarketStore {
  symbols: readonly MarketSymbol[] | undefined;
  /** For the search; empty until the market is loaded. */
  searchable = NOTHING;
  readonly rows = new MarketRows();
  state: LiveState = 'connecting';
  error: unknown;
  /** When quotes were last read without a pause before, in ms: what was loaded earlier is incomplete. */
  unbrokenSince = Date.now();
  #answeredAt = Date.now();
  readonly #key: string;
  readonly #subscribers = new Set<() => void>();
  /** Whether somebody shows the closes, and whether they are loaded. They are most of the view. */
  #wantsCloses = false;
  #hasCloses = false;
  /** The symbols that the page shows, of which the quotes are renewed. */
  #wanted: ReadonlySet<string> | 'all' = new Set();
  #loaded: ReadonlySet<string> | 'all' = new Set();
  /** Proves to the service that the view is paid for. It is kept, so that a reload is free. */
  #visit: string;
  /** The codes that were looked for. */
  readonly #missing = new Set<string>();
  #polling: ReturnType<typeof setTimeout> | undefined;
  #isAsking = false;
  /** Ends the request for quotes, if one is in progress. */
  #quotesStop: AbortController | undefined;

  constructor(key: string) {
    this.#key = key;
    this.#visit = sessionStorage.getItem(VISIT) ?? '';
  }

  /** Requires all symbols with their closes. Call this, or one of the next two, before `subscribe`. */
  requireCloses(): void {
    this.#wantsCloses = true;
    this.#wanted = 'all';
  }

  /** Requires some symbols: a page about one of them needs no others. Those that are loaded stay, with older quotes. */
  require(codes: readonly string[]): void {
    if (this.#wanted === 'all') return;
    const wanted = new Set(codes);
    if (wanted.symmetricDifference(this.#wanted).size === 0) return;
    this.#wanted = wanted;
    this.error = undefined; // it was about other symbols
  }

  /** Requires all symbols, without closes. */
  requireAll(): void {
    this.#wanted = 'all';
  }

  /** Loads all symbols, for the search. */
  readonly loadAll = (): void => {
    if (this.#wanted === 'all') return;
    this.requireAll();
    this.refresh();
  };

  /** Loads the whole market again, once for each code that it lacks: the code may be new. */
  lookFor(code: string): void {
    if (this.#missing.has(code)) return;
    this.#missing.add(code);
    this.requireAll();
    this.#loaded = new Set();
    this.searchable = { ...this.searchable, isComplete: false };
    this.refresh();
  }

  /** The symbol of a code, a ticker or a formula of them. */
  find(code: string): MarketSymbol | undefined {
    const { symbols, formulas, aliases } = this.searchable;
    if (isFormula(code)) {
      const formula = code.replace(OPERAND, (_, operand) => `{${aliases[operand] ?? operand}}`);
      return formulaSymbol(formula, symbols);
    }
    return [...symbols, ...formulas].find(({ symbol }) => symbol === code || symbol === aliases[code]);
  }

  /** Calls back when the list of symbols or the state changes. The market is kept up to date while somebody listens. */
  subscribe(listener: () => void): () => void {
    this.#subscribers.add(listener);
    if (this.#subscribers.size === 1) {
      document.addEventListener('visibilitychange', this.refresh);
      this.refresh();
    }
    return () => {
      this.#subscribers.delete(listener);
      if (this.#subscribers.size > 0) return;
      document.removeEventListener('visibilitychange', this.refresh);
      clearTimeout(this.#polling);
    };
  }

  /** Asks for newer prices now. A hidden tab asks for none. */
  readonly refresh = (): void => {
    clearTimeout(this.#polling);
    if (document.hidden) return;
    if (this.#isAsking) {
      if (!this.hasWanted) this.#quotesStop?.abort(); // what is missing must not wait for them
      return;
    }
    this.#isAsking = true;
    void this.#ask().then((waitMs) => {
      this.#isAsking = false;
      for (const listener of this.#subscribers) listener();
      if (this.#subscribers.size > 0) this.#polling = setTimeout(this.refresh, waitMs);
    });
  };

  /** Returns how long to wait before the next time. */
  async #ask(): Promise<number> {
    const wanted = this.#wanted;
    this.#quotesStop = this.#visit !== '' && this.hasWanted ? new AbortController() : undefined;
    const signal = this.#quotesStop?.signal;
    try {
      await (signal ? this.#loadQuotes(signal) : this.#load());
      this.state = 'live';
      this.error = undefined;
      this.#noticePause(Date.now());
      return this.hasWanted ? POLL_MS : 0; // more may have been required meanwhile
    } catch (error) {
      if (error instanceof OpenpitError && error.code === 'invalid_visit') {
        this.#setVisit('');
        return 0;
      }
      if (wanted !== this.#wanted || signal?.aborted) return 0;
      this.error = error;
      this.state = isOutage(error) ? 'lost' : { refused: messageOf(error) };
      return isOutage(error) ? POLL_MS : POLL_REFUSED_MS;
    }
  }

  /** After a hidden tab, a sleeping machine or an outage. */
  #noticePause(now: number): void {
    if (now - this.#answeredAt > PAUSE_MS) this.unbrokenSince = now - PAUSE_MS;
    this.#answeredAt = now;
  }

  /** Whether everything that is required is loaded. */
  get hasWanted(): boolean {
    if (this.#wantsCloses !== this.#hasCloses) return false;
    if (this.#loaded === 'all') return true;
    return this.#wanted !== 'all' && this.#wanted.isSubsetOf(this.#loaded);
  }

  #setVisit(visit: string): void {
    this.#visit = visit;
    sessionStorage.setItem(VISIT, visit);
  }

  async #load(): Promise<void> {
    const query = new URLSearchParams();
    if (this.#visit !== '') query.set('visit', this.#visit);
    if (!this.#wantsCloses) query.set('closes', 'false');
    const wanted = this.#wanted;
    if (wanted !== 'all') query.set('symbols', [...wanted].join(','));
    const response = await clientOf(this.#key).request(`/market?${query}`);
    const body = (await response.json()) as MarketAnswer;
    this.#setVisit(response.headers.get('openpit-visit') ?? this.#visit);
    this.#hasCloses = query.get('closes') === null;
    this.#loaded = wanted === 'all' || this.#loaded === 'all' ? 'all' : wanted.union(this.#loaded);
    const before = wanted === 'all' ? NOTHING : this.searchable;
    this.#setSymbols({
      symbols: withOthers(
        body.symbols.map(({ quote: _, closes: __, ...symbol }) => symbol),
        before.symbols,
      ),
      formulas: withOthers(body.formulas, before.formulas),
      aliases: { ...before.aliases, ...body.aliases },
    });
    for (const { symbol, quote, closes = [] } of body.symbols) {
      if (quote) this.rows.load(symbol, quote, closes);
    }
  }

  async #loadQuotes(signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ visit: this.#visit });
    if (this.#wanted !== 'all') query.set('symbols', [...this.#wanted].join(','));
    const { quotes } = await askWithKey<QuotesAnswer>(this.#key, `/market/quotes?${query}`, { signal });
    let hasNew = false;
    for (const [code, quote] of Object.entries(quotes)) {
      hasNew ||= !this.rows.has(code);
      if (!this.rows.update(code, quote)) this.#hasCloses = false;
    }
    if (!hasNew) return;
    this.#setSymbols({
      ...this.searchable,
      symbols: this.searchable.symbols.map((symbol) => withFirstPrice(symbol, quotes[symbol.symbol])),
    });
  }

  #setSymbols(market: Omit<Searchable, 'isComplete'>): void {
    this.symbols = market.symbols;
    this.searchable = { ...market, isComplete: this.#loaded === 'all' };
  }
}

function withFirstPrice(symbol: MarketSymbol, quote: Quote | undefined): MarketSymbol {
  if (symbol.lastDate !== null || !quote) return symbol;
  return { ...symbol, firstDate: quote.before?.date ?? quote.date, lastDate: quote.date };
}

/** Symbols that were loaded, and the others that were known before. */
function withOthers(
  loaded: readonly MarketSymbol[],
  known: readonly MarketSymbol[],
): readonly MarketSymbol[] {
  const codes = new Set(loaded.map(({ symbol }) => symbol));
  return [...loaded, ...known.filter(({ symbol }) => !codes.has(symbol))];
}
