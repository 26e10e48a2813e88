import { z } from 'zod';
import type { Ohlc } from '../../market/bar.ts';
import { type Day, utcDay } from '../../market/day.ts';
import { zoneOffset } from '../../market/zone.ts';
import { quote, readCell } from '../formats/cell.ts';
import { Collector } from '../formats/collector.ts';
import { list, numeric, readJson } from '../formats/json.ts';
import type { FeedRequest, Parsed, Provider } from '../provider.ts';
import { parsedOf, publishedUnit } from './adapter/parsed.ts';
import { settingsOf, urlFrom } from './adapter/settings.ts';

/** Daily bars of futures. The terms do not allow redistribution. */
export const yahoo: Provider = {
  ...settingsOf('yahoo'),
  requests(_secrets, since) {
    const range = since === undefined ? 'max' : '3mo';
    return this.series.map(({ id }) => ({
      url: urlFrom(this.urls.chart!, { id: encodeURIComponent(id), range }),
      series: id,
    }));
  },
  parse: (body, request) => parse(body, request),
};

const prices = list(numeric).optional();
const Result = z.object({
  meta: z.object({
    symbol: z.string().optional(),
    currency: z.string().nullish(),
    exchangeTimezoneName: z.string().nullish(),
    gmtoffset: z.number().nullish(),
    dataGranularity: z.string().nullish(),
    regularMarketTime: z.number().nullish(),
    currentTradingPeriod: z.object({ regular: z.object({ end: z.number() }) }).nullish(),
  }),
  timestamp: list(z.number()).nullish(),
  indicators: z.object({
    quote: list(z.object({ open: prices, high: prices, low: prices, close: prices })),
  }),
});
const Body = z.object({
  chart: z.object({ result: list(Result).nullish(), error: z.object({ code: z.string() }).nullish() }),
});

function parse(body: Uint8Array, request: FeedRequest): Parsed {
  const { chart } = readJson(body, Body);
  if (chart.error) throw new Error(`the provider answered with the error ${quote(chart.error.code)}`);
  const result = chart.result?.[0];
  if (!result) throw new Error('the chart has no result');
  const { meta } = result;
  const id = meta.symbol ?? request.series;
  if (!id) throw new Error('neither the body nor the request names the series');
  if (meta.dataGranularity && meta.dataGranularity !== '1d')
    throw new Error(`the bars are of ${quote(meta.dataGranularity)} where days were expected`);
  const collector = new Collector();
  const provided = yahoo.series.find((one) => one.id === id);
  const currency = provided && publishedUnit(provided).currency;
  if (currency && meta.currency !== currency) {
    collector.refuseSeries(
      id,
      id,
      `${id} is in ${quote(meta.currency ?? '')} where ${currency} was expected`,
    );
    return parsedOf(collector);
  }
  const live = isLive(result) ? result.timestamp!.length - 1 : -1;
  addBars(collector, id, result, live);
  const ignored = live >= 0 ? [{ where: `bar ${live}`, reason: 'it is still forming' }] : [];
  return parsedOf(collector, { ignored });
}

/** Adds all bars of a series except the one at the index `live`. */
function addBars(
  collector: Collector,
  id: string,
  { meta, timestamp, indicators }: Chart,
  live: number,
): void {
  const bars = indicators.quote[0];
  const times = timestamp ?? [];
  if (!bars?.close || times.length === 0) throw new Error('the chart has no bars');
  for (const [i, seconds] of times.entries()) {
    if (i === live) continue;
    const where = `bar ${i}`;
    const day = dayOf(meta, seconds);
    const bar = readBar(bars, i);
    if (day === undefined) collector.refuse(where, 'its timestamp is invalid');
    else if (bar === 'missing') collector.missing++;
    else if (bar) collector.add(id, day, bar, where);
    else collector.refuse(where, 'one of its prices is not a number');
  }
}

/** Undefined if a price is not a number. */
function readBar(bars: Quotes, i: number): Ohlc | 'missing' | undefined {
  const [open, high, low, close] = [bars.open, bars.high, bars.low, bars.close].map((list) =>
    readCell(list?.[i]),
  );
  if ([open, high, low, close].includes('missing')) return 'missing';
  const isBar =
    typeof open === 'number' &&
    typeof high === 'number' &&
    typeof low === 'number' &&
    typeof close === 'number';
  if (!isBar) return undefined;
  return { open: asWritten(open), high: asWritten(high), low: asWritten(low), close: asWritten(close) };
}

type Chart = z.infer<typeof Result>;
type Meta = Chart['meta'];
type Quotes = Chart['indicators']['quote'][number];

/** The last bar changes until its session has ended. If the body does not say, assume it is still open. */
function isLive({ meta, timestamp }: Chart): boolean {
  const last = timestamp?.at(-1);
  if (last === undefined) return false;
  if (meta.regularMarketTime === null || meta.regularMarketTime === undefined) return true;
  const [lastDay, marketDay] = [dayOf(meta, last), dayOf(meta, meta.regularMarketTime)];
  if (lastDay !== undefined && marketDay !== undefined && lastDay < marketDay) return false;
  return !(meta.regularMarketTime >= (meta.currentTradingPeriod?.regular.end ?? Number.POSITIVE_INFINITY));
}

/** The day in the exchange's time zone. */
function dayOf({ exchangeTimezoneName, gmtoffset }: Meta, seconds: number): Day | undefined {
  const ms = seconds * 1000;
  if (!Number.isInteger(ms) || Math.abs(ms) > 8e15) return undefined;
  try {
    return utcDay(
      ms + (exchangeTimezoneName ? zoneOffset(exchangeTimezoneName, ms) : (gmtoffset ?? 0) * 1000),
    );
  } catch {
    return undefined; // no such zone
  }
}

/**
 * Yahoo stores prices as float32 and prints them as float64: 64.36 becomes 64.36000061035156. The shortest decimal with the same
 * float32 is the original price.
 */
function asWritten(price: number): number {
  if (Math.fround(price) !== price || String(price).replace(/[-.]/g, '').length <= 9) return price;
  for (let digits = 1; digits <= 9; digits++) {
    const shorter = Number(price.toPrecision(digits));
    if (Math.fround(shorter) === price) return shorter;
  }
  return price;
}
