import type { RefusedValue } from '../../ledger/operations/feed-runs.ts';
import type { FilledSymbols } from '../../ledger/operations/filled-symbols.ts';
import type { NewBar } from '../../ledger/prices/bars.ts';
import { symbolDayKey } from '../../ledger/symbols/origin.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { type Ohlc, sameOhlc } from '../../market/bar.ts';
import { type Day, EARLIEST_DAY, LAST_DAY, printDay } from '../../market/day.ts';
import { product } from '../../market/decimal.ts';
import type { Observation, ProvidedSeries, Provider } from '../provider.ts';
import type { Doubts } from './doubts.ts';

export interface MappedBars {
  /** In the symbols' units, sorted by symbol and day, at most one for each. */
  bars: NewBar[];
  refused: RefusedValue[];
  doubts: Doubts;
}

/**
 * Maps observations to bars of the catalogue's symbols. A series whose unit differs from its symbol's is refused. A day that
 * appears twice with different prices, or lies in the future, makes its series suspect.
 */
export function mapObservations(
  provider: Provider,
  observations: readonly Observation[],
  symbols: readonly LedgerSymbol[],
  latestDay: Day,
): MappedBars {
  const refused: RefusedValue[] = [];
  const bars: NewBar[] = [];
  const doubts: Doubts = new Map();
  const seriesById = new Map(provider.series.map((series) => [series.id, series]));
  const symbolByCode = new Map(symbols.map((symbol) => [symbol.code, symbol]));
  const seen = new Map<string, Ohlc>();

  for (const [id, ofSeries] of Map.groupBy(observations, (one) => one.series)) {
    const series = seriesById.get(id);
    if (!series) continue; // a body may contain series that are not mapped
    const symbol = symbolByCode.get(series.symbol);
    const mismatch = reasonAgainst(series, symbol);
    if (mismatch !== undefined || !symbol) {
      refused.push({ where: id, reason: `${mismatch}: ${ofSeries.length} observations not used` });
      continue;
    }
    const doubt = (reason: string) => doubts.set(symbol.id, doubts.get(symbol.id) ?? reason);
    for (const observation of ofSeries) {
      const { day } = observation;
      const prices = convert(observation, series.factor ?? 1);
      if (!isDay(day) || !Object.values(prices).every(Number.isFinite)) {
        refused.push({ where: id, reason: 'not a day with a price' });
        continue;
      }
      const where = `${id} ${printDay(day)}`;
      if (day > latestDay) doubt(`${printDay(day)} is in the future`);
      const key = symbolDayKey({ symbolId: symbol.id, day });
      const before = seen.get(key);
      if (before) {
        if (!sameOhlc(before, prices)) doubt(`${printDay(day)} appears twice with different prices`);
        refused.push({ where, reason: 'the day appears twice' });
        continue;
      }
      seen.set(key, prices);
      bars.push({ symbolId: symbol.id, day, ...prices });
    }
  }
  bars.sort((a, b) => a.symbolId - b.symbolId || a.day - b.day);
  return { bars, refused, doubts };
}

/** The symbols that the series of a provider can fill now. */
export function fillableSymbols({ series }: Provider, symbols: readonly LedgerSymbol[]): FilledSymbols {
  const symbolByCode = new Map(symbols.map((symbol) => [symbol.code, symbol]));
  const fillable = series.flatMap((one): [string, number][] => {
    const symbol = symbolByCode.get(one.symbol);
    return symbol && reasonAgainst(one, symbol) === undefined ? [[one.id, symbol.id]] : [];
  });
  return Object.fromEntries(fillable);
}

/** Whether a day can be printed. Days up to a thousand years ahead can, so that messages can name them. */
function isDay(day: Day): boolean {
  return Number.isInteger(day) && day >= EARLIEST_DAY && day <= LAST_DAY + 365_250;
}

function reasonAgainst(series: ProvidedSeries, symbol: LedgerSymbol | undefined): string | undefined {
  if (!symbol) return `there is no symbol ${series.symbol}`;
  const [theirs, ours] = [
    `${series.currency}/${series.unit}`,
    `${symbol.currency.code}/${symbol.unit.symbol}`,
  ];
  return theirs === ours ? undefined : `it is in ${theirs}, but ${symbol.code} is in ${ours}`;
}

/** Rounds only once: prices are exact to 15 significant digits. */
function convert({ open, high, low, close }: Ohlc, factor: number): Ohlc {
  const by = (value: number) => (Number.isFinite(value) ? product(value, factor) : value);
  return { open: by(open), high: by(high), low: by(low), close: by(close) };
}
