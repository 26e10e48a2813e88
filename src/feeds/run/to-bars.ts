import type { RefusedValue } from '../../ledger/operations/feed-runs.ts';
import type { NewBar } from '../../ledger/prices/bars.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { type Ohlc, sameOhlc } from '../../market/bar.ts';
import { type Day, EARLIEST_DAY, LAST_DAY, printDay } from '../../market/day.ts';
import { product } from '../../market/decimal.ts';
import type { Observation, ProvidedSeries, Provider } from '../provider.ts';

export interface Mapped {
  /** In the symbols' own units, by symbol and then by day, one for each. */
  bars: NewBar[];
  refused: RefusedValue[];
  /** Symbols of which nothing is to be believed, and why. */
  doubts: Map<number, string>;
}

/**
 * Turns what a provider said into bars of the catalogue's symbols. A series that does not fit its symbol is refused, the
 * rest is taken. A day that comes twice with different prices, or lies in the future, casts doubt on its series.
 */
export function mapObservations(
  provider: Provider,
  observations: readonly Observation[],
  symbols: readonly LedgerSymbol[],
  latestDay: Day,
): Mapped {
  const refused: RefusedValue[] = [];
  const bars: NewBar[] = [];
  const doubts = new Map<number, string>();
  const seriesById = new Map(provider.series.map((series) => [series.id, series]));
  const symbolByCode = new Map(symbols.map((symbol) => [symbol.code, symbol]));
  const seen = new Map<string, Ohlc>();

  for (const [id, ofSeries] of Map.groupBy(observations, (one) => one.series)) {
    const series = seriesById.get(id);
    const symbol = series && symbolByCode.get(series.symbol);
    if (!series) continue; // a body may hold more than what is mapped
    const misfit = reasonAgainst(series, symbol);
    if (misfit !== undefined || !symbol) {
      refused.push({ where: id, reason: `${misfit}: ${ofSeries.length} observations not used` });
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
      const key = `${symbol.id} ${day}`;
      const before = seen.get(key);
      if (before) {
        if (!sameOhlc(before, prices)) doubt(`${printDay(day)} is there twice, with different prices`);
        refused.push({ where, reason: 'the day is there twice' });
        continue;
      }
      seen.set(key, prices);
      bars.push({ symbolId: symbol.id, day, ...prices });
    }
  }
  bars.sort((a, b) => a.symbolId - b.symbolId || a.day - b.day);
  return { bars, refused, doubts };
}

/** A day of any year that can be printed: one that lies far ahead is told by its date. */
function isDay(day: Day): boolean {
  return Number.isInteger(day) && day >= EARLIEST_DAY && day <= LAST_DAY + 365_250;
}

function reasonAgainst(series: ProvidedSeries, symbol: LedgerSymbol | undefined): string | undefined {
  if (!symbol) return `there is no symbol ${series.symbol}`;
  const [theirs, ours] = [
    `${series.currency}/${series.unit}`,
    `${symbol.currency.code}/${symbol.unit.symbol}`,
  ];
  return theirs === ours ? undefined : `it is in ${theirs}, and ${symbol.code} is in ${ours}`;
}

/** Exactly, and rounded once: a price is exact to 15 significant digits. */
function convert({ open, high, low, close }: Ohlc, factor: number): Ohlc {
  const by = (value: number) => (Number.isFinite(value) ? product(value, factor) : value);
  return { open: by(open), high: by(high), low: by(low), close: by(close) };
}
