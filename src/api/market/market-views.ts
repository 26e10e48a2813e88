import type { Board } from '../../board/board.ts';
import type { Catalog } from '../../board/catalog.ts';
import { FormulaSeries } from '../../board/series/formula-series.ts';
import { historySince, NotLoaded } from '../../board/series/load/load-level.ts';
import type { SymbolSeries } from '../../board/series/symbol-series.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import { gzipInSlices } from '../download/gzip-chunks.ts';
import { datesOf, recordOf } from '../endpoints/catalog/symbols.ts';
import { symbolSeriesOf } from '../formulas/formula-parts.ts';
import { FormulaPrices } from '../formulas/formula-prices.ts';
import { namedFormulas } from '../formulas/named-formulas.ts';
import { ByteWriter } from '../model/byte-writer.ts';
import type { QueryParams } from '../model/query.ts';
import type { SharedBody } from '../model/shared-body.ts';
import { findSymbols, readSymbolSet } from '../params/parameters.ts';
import type { EntityTags } from '../response/etag.ts';
import { briefJson, closesFrom, quoteJson, type RecentCloses, readCloses, rowJson } from './market-row.ts';

/** The market as one delay sees it. */
export interface MarketView {
  /** A part for all symbols. It is encoded when it is first requested: with thousands of symbols, that takes most of the time. */
  all(part: MarketPart): Promise<SharedBody>;
  /** The same for some symbols and formulas. */
  only(part: MarketPart, series: readonly SymbolSeries[], formulas: FormulaTexts): Promise<SharedBody>;
}

/** `full`: symbols with their newest prices and recent closes; `brief`: the same without the closes; `quotes`: the newest prices alone. */
export type MarketPart = 'full' | 'brief' | 'quotes';

/** One symbol in each part of a view; no quote without prices. */
interface RowTexts {
  row: string;
  brief: string;
  quote: string | undefined;
}

/** The named formulas, as `/symbols` lists them. */
type FormulaTexts = readonly string[];

interface Snapshot {
  builtAt: number;
  catalog: Catalog;
  view: Promise<MarketView>;
}

/** Fresh enough for a page. More frequent requests receive the same prices. */
const REFRESH_MS = 5_000;

/** A part of the view costs as much as all of it, so the plan's limit of symbols does not apply. */
const UNLIMITED = Number.POSITIVE_INFINITY;

/** The market view of each delay, which all customers with that delay share. */
export class MarketViews {
  readonly #board: Board;
  readonly #tags: EntityTags;
  readonly #snapshots = new Map<number, Snapshot>();
  readonly #closes = new Map<number, WeakMap<SymbolSeries, RecentCloses>>();

  constructor(board: Board, tags: EntityTags) {
    this.#board = board;
    this.#tags = tags;
  }

  /** The requested part of the view of a plan, for all symbols or for those that it names. */
  async body(part: MarketPart, query: QueryParams, { delaySeconds }: Plan, now: number): Promise<SharedBody> {
    const delayMs = delaySeconds * 1000;
    const lists = query.get('symbols') ?? [];
    if (lists.every((list) => list.trim() === '')) return (await this.get(delayMs, now)).all(part);
    const symbolSet = readSymbolSet(query, { maxSymbols: UNLIMITED });
    const options = { symbolsMax: UNLIMITED, onlyNamed: true };
    const { symbols } = findSymbols(symbolSet, this.#board, now, options);
    const formulas = symbols.flatMap(({ series }) => (series instanceof FormulaSeries ? [series] : []));
    const texts = await this.#formulaTexts(formulas, delayMs, now);
    const series = symbolSeriesOf(symbols);
    return (await this.get(delayMs, now)).only(part, series, texts);
  }

  /** The current view, at most `REFRESH_MS` old, with all symbols. Concurrent requests share one build. */
  get(delayMs: number, now: number): Promise<MarketView> {
    const known = this.#snapshots.get(delayMs);
    const age = known ? now - known.builtAt : Number.POSITIVE_INFINITY;
    const { catalog } = this.#board;
    if (known?.catalog === catalog && age >= 0 && age < REFRESH_MS) return known.view;
    const snapshot: Snapshot = { builtAt: now, catalog, view: this.#build(delayMs, now) };
    this.#snapshots.set(delayMs, snapshot);
    snapshot.view.catch(() => {
      if (this.#snapshots.get(delayMs) === snapshot) this.#snapshots.delete(delayMs);
    });
    return snapshot.view;
  }

  async #build(delayMs: number, now: number): Promise<MarketView> {
    const { catalog } = this.#board;
    const texts = new Map<SymbolSeries, RowTexts>();
    await this.#board.ready(catalog.series, 'recent', now);
    for (const series of catalog.series) {
      if (shouldYield()) await yieldToRequests();
      await this.#board.ready([series], 'recent', now); // it may have been reset meanwhile
      texts.set(series, await this.#buildRow(series, delayMs, now));
    }
    const formulas = await this.#formulaTexts([...namedFormulas(catalog).values()], delayMs, now);
    const encode = (part: MarketPart, some: ReadonlyMap<SymbolSeries, RowTexts>, formulas: FormulaTexts) =>
      this.#encode(piecesOf(part, some, formulas, aliasesOf(catalog, some)), delayMs);
    const bodies = new Map<MarketPart, Promise<SharedBody>>();
    return {
      all: (part) => bodies.getOrInsertComputed(part, () => encode(part, texts, formulas)),
      only(part, series, formulas) {
        // A symbol that was added since is in the next view.
        const some = series.flatMap((one) => {
          const own = texts.get(one);
          return own ? [[one, own] as const] : [];
        });
        return encode(part, new Map(some), formulas);
      },
    };
  }

  async #formulaTexts(
    formulas: readonly FormulaSeries[],
    delayMs: number,
    now: number,
  ): Promise<FormulaTexts> {
    const texts: string[] = [];
    for (const formula of formulas) {
      if (shouldYield()) await yieldToRequests();
      await this.#board.ready(
        formula.parts.map(({ series }) => series),
        'dates',
        now,
      );
      const prices = new FormulaPrices(this.#board.view(delayMs), 'named');
      texts.push(recordOf(datesOf(formula, prices)));
    }
    return texts;
  }

  async #buildRow(series: SymbolSeries, delayMs: number, now: number): Promise<RowTexts> {
    const recent = await this.#recentCloses(series, delayMs, now);
    const view = this.#board.view(delayMs);
    const latest = view.latest(series);
    const moment = { board: this.#board, view, now };
    const quote = latest && recent ? quoteJson(moment, series, latest, recent) : undefined;
    const brief = briefJson(series, view, quote ?? 'null');
    return { row: rowJson(brief, recent), brief, quote };
  }

  /**
   * They are usually among the recent days, which stay in memory. Otherwise their history is loaded, but again only for
   * another day or another close: loading it for every tick would evict the histories that customers use.
   */
  async #recentCloses(series: SymbolSeries, delayMs: number, now: number): Promise<RecentCloses | undefined> {
    const known = this.#closes.getOrInsertComputed(delayMs, () => new WeakMap());
    for (;;) {
      const view = this.#board.view(delayMs);
      const latest = view.latest(series);
      if (!latest) return undefined;
      const recent = known.get(series);
      const from = closesFrom(series, latest);
      const isSame = recent?.day === latest.day && recent.from === from;
      if (isSame && recent.pastVersion === view.pastVersion(series)) return recent;
      try {
        known.set(series, readCloses(series, view, latest));
      } catch (error) {
        if (!(error instanceof NotLoaded)) throw error;
        const history = historySince(from, now);
        // The clock may have been set back since two years were loaded.
        await this.#board.ready([series], series.has(history) ? 'all' : history, now);
      }
    }
  }

  /** With thousands of symbols it takes a tenth of a second, so it yields to requests. */
  async #encode(pieces: Iterable<string>, delayMs: number): Promise<SharedBody> {
    const writer = new ByteWriter();
    for (const piece of pieces) {
      if (shouldYield()) await yieldToRequests();
      writer.text(piece);
    }
    const plain = writer.finishAsBytes();
    const etag = this.#tags.ofContent(plain, { delayMs, weak: false });
    return { plain, gzipped: await gzipInSlices(plain), etag };
  }
}

/** The JSON of a part. */
function* piecesOf(
  part: MarketPart,
  texts: ReadonlyMap<SymbolSeries, RowTexts>,
  formulas: FormulaTexts,
  aliases: object,
): Generator<string> {
  let comma = '';
  yield part === 'quotes' ? '{"success":true,"quotes":{' : '{"success":true,"symbols":[';
  for (const [{ symbol }, { row, brief, quote }] of texts) {
    if (part !== 'quotes') yield comma + (part === 'full' ? row : brief);
    else if (quote) yield `${comma}${JSON.stringify(symbol.code)}:${quote}`;
    else continue;
    comma = ',';
  }
  yield part === 'quotes'
    ? '}}'
    : `],"formulas":[${formulas.join(',')}],"aliases":${JSON.stringify(aliases)}}`;
}

/** The symbol of each other code, so that a page can find a symbol by its ticker. */
function aliasesOf(catalog: Catalog, texts: ReadonlyMap<SymbolSeries, RowTexts>): Record<string, string> {
  const listed = catalog.aliases.filter(({ alias }) => texts.has(catalog.find(alias)!));
  return Object.fromEntries(listed.map(({ alias, code }) => [alias, code]));
}
