import type { Catalog } from '../../board/catalog.ts';
import type { Series } from '../../board/series/series.ts';
import type { SymbolSeries } from '../../board/series/symbol-series.ts';
import { CENTS } from '../../market/currency.ts';
import { ONE, type Ratio, ratioOf, times } from '../../market/ratio.ts';
import type { SymbolRecord } from '../../market/symbol.ts';
import { unitFactor, unitNamed, unitsFor } from '../../market/unit.ts';
import { refuse } from '../errors/errors.ts';
import type { Conversion, RequestedSymbol, SeriesConversion } from '../model/price-query.ts';
import type { QueryParams } from '../model/query.ts';
import { echo, singleUnlessEmpty } from './parameters.ts';

const HUNDRED = ratioOf(100);
const HUNDREDTH = ratioOf(0.01);

/** Reads `quote` and `unit`; undefined if neither is present. Refuses if one of the symbols cannot be converted. */
export function readConversion(
  query: QueryParams,
  symbols: readonly RequestedSymbol[],
  catalog: Catalog,
): Conversion | undefined {
  const quote = singleUnlessEmpty(query, 'quote')?.toUpperCase();
  const unit = singleUnlessEmpty(query, 'unit');
  if (quote === undefined && unit === undefined) return undefined;
  const units = unitsOf(symbols, unit);
  const bySeries = new Map<Series, SeriesConversion>();
  const rates = new Set<SymbolSeries>();
  const kinds: SeriesConversion[] = []; // series that are converted alike share one, and so their factors
  symbols.forEach((requested, i) => {
    const { series } = requested;
    const money = exchange(requested, quote, catalog);
    const { symbol, factor } = units[i]!;
    const own = { ...money, unit: symbol, constant: times(money.constant, factor) };
    const alike = kinds.find((kind) => isSame(kind, own));
    if (!alike) kinds.push(own);
    bySeries.set(series, alike ?? own);
    for (const rate of [money.from, money.to]) if (rate) rates.add(rate);
  });
  return { bySeries, rates: [...rates] };
}

function isSame(a: SeriesConversion, b: SeriesConversion): boolean {
  const sameMeasure = a.quote === b.quote && a.unit === b.unit && a.from === b.from && a.to === b.to;
  const [x, y] = [a.constant, b.constant];
  return sameMeasure && x.numerator * y.denominator === y.numerator * x.denominator;
}

function unitsOf(
  symbols: readonly RequestedSymbol[],
  requested: string | undefined,
): { symbol: string; factor: Ratio }[] {
  if (requested === undefined) {
    return symbols.map(({ series }) => ({ symbol: series.symbol.unit.symbol, factor: ONE }));
  }
  const name = unitNamed(requested);
  const misfits: { code: string; units: string[] }[] = [];
  const found = symbols.map(({ code, series }) => {
    const own = isOwnUnit(series.symbol, requested);
    const factor = own ? ONE : name && unitFactor(series.symbol, name);
    if (!factor) misfits.push({ code, units: unitsFor(series.symbol) });
    return { symbol: own ? series.symbol.unit.symbol : (name ?? requested), factor: factor || ONE };
  });
  if (misfits.length > 0) throw refuse('invalid_unit', { received: echo(requested), misfits });
  return found;
}

/** A unit that an operator defined fits at least its own symbol. */
function isOwnUnit({ unit }: SymbolRecord, requested: string): boolean {
  return unit.symbol.toLowerCase() === requested.toLowerCase();
}

function exchange({ code, series }: RequestedSymbol, quote: string | undefined, catalog: Catalog) {
  const own = series.symbol.currency.code;
  const isOwn = quote === undefined || quote === own.toUpperCase(); // "none" is the only one in lower case
  if (isOwn) return { quote: own, constant: ONE, from: undefined, to: undefined };
  const [from, to] = [CENTS[own] ?? own, CENTS[quote] ?? quote];
  const constant = times(own in CENTS ? HUNDREDTH : ONE, quote in CENTS ? HUNDRED : ONE);
  if (from === to) return { quote, constant, from: undefined, to: undefined };
  const rateOf = (currency: string) => (currency === 'EUR' ? undefined : catalog.exchangeRate(currency));
  const [fromRate, toRate] = [rateOf(from), rateOf(to)];
  const isKnown = (currency: string, rate: SymbolSeries | undefined) =>
    currency === 'EUR' || rate !== undefined;
  if (!isKnown(from, fromRate) || !isKnown(to, toRate)) {
    const known = currenciesFor(own, catalog);
    const hasRates = catalog.currencies.length > 0;
    throw refuse('unknown_currency', { received: echo(quote), code, own, known, hasRates });
  }
  return { quote, constant, from: fromRate, to: toRate };
}

/** The currencies that a price in `own` can be converted to, sorted. */
export function currenciesFor(own: string, catalog: Catalog): string[] {
  const whole = CENTS[own] ?? own;
  const known = new Set([own, whole]);
  const rates = catalog.currencies;
  if (rates.length > 0 && (whole === 'EUR' || rates.includes(whole))) {
    known.add('EUR');
    for (const currency of rates) known.add(currency);
  }
  for (const [cent, hundred] of Object.entries(CENTS)) if (known.has(hundred)) known.add(cent);
  return [...known].sort();
}
