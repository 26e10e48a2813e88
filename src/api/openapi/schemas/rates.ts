/** Symbols and prices. */

import { z } from 'zod';
import { INTERVALS } from '../../../market/interval.ts';
import { INTRADAY_INTERVALS } from '../../../market/intraday/interval.ts';
import { code, day, dayOrTime, later, ok, seconds, text, unresolved } from './parts.ts';

const ohlc = z.strictObject({ open: z.number(), high: z.number(), low: z.number(), close: z.number() });

const change = z.strictObject({
  startRate: z.number(),
  endRate: z.number(),
  change: z.number(),
  changePercent: z.number(),
});

const origin = {
  symbol: code.optional().describe('The symbol that was used, if the requested code is an alias'),
  unit: text.describe('The unit of the price, for example T.oz'),
  quote: text.describe('The currency of the price'),
  source: text.describe('Where the price comes from; "simulated" prices are made up'),
};

const factor = z.number().describe('The factor that the published price was multiplied by').optional();

const metadataOf = <T extends z.ZodRawShape>(more: T) =>
  z
    .record(code, z.strictObject({ ...origin, ...more }))
    .describe('Unit, currency and source of each symbol; omitted with metadata=false')
    .optional();

const historyRow = z.strictObject({
  date: dayOrTime,
  symbol: code,
  ...ohlc.shape,
  factor,
  change: z.number().describe('With transform=change: the exact difference').optional(),
  percent: z.number().describe('With transform=percent').optional(),
  log: z.number().describe('With transform=log').optional(),
  index: z.number().describe('With transform=index').optional(),
  moving: z.number().describe('With moving: the mean of the last closes').optional(),
  average: z.number().describe('The mean of the closes of the days, or of the minutes'),
  count: z.int().describe('The number of days, or of minutes, with a price'),
});

const statisticsRecord = z.strictObject({
  count: z.int().describe('The number of closes'),
  last: z.number(),
  lastDate: day,
  mean: z.number(),
  median: z.number(),
  standardDeviation: z.number().describe('Of the sample; absent for one close').optional(),
  volatility: z.number().describe('Annualised, of log returns, as a fraction').optional(),
  minimum: z.number(),
  minimumDate: day,
  maximum: z.number(),
  maximumDate: day,
  maximumDrawdown: z.number().describe('As a fraction of the peak'),
  peakDate: day.optional(),
  troughDate: day.optional(),
});

const symbol = z.strictObject({
  symbol: code,
  category: text,
  name: text,
  currency: z.strictObject({ code: text, name: text, symbol: text }),
  unit: z.strictObject({ symbol: text, name: text }),
  status: z.enum(['active', 'deprecated']),
  updateInterval: z.enum(['minute', 'day', 'week', 'month']),
  formula: text.optional().describe('Of a named formula: what it computes'),
  firstDate: day.nullable(),
  lastDate: day.nullable(),
});

const quote = z.strictObject({
  rate: z.number(),
  date: day.describe('The trade date of the rate'),
  at: text.describe('The time of the price, or its day if it is a close'),
  source: origin.source,
  stale: z.boolean().describe('Whether the price is older than expected'),
  open: z.boolean().describe('Whether the market of the symbol is open'),
  before: z.strictObject({ date: day, close: z.number() }).nullable().describe('The close before that day'),
});

const measure = z.strictObject({ symbol: code.optional(), unit: text, quote: text });

const version = {
  source: text,
  recordedAt: z.iso.datetime(),
  reason: text.nullable(),
  revision: z.int(),
};
const versions = z.array(
  z.union([
    z.strictObject({ ...ohlc.shape, ...version }),
    z
      .strictObject({ withdrawn: z.literal(true), ...version })
      .describe('The bar was withdrawn: from this version on, the day has no prices'),
  ]),
);

export const RATE_SCHEMAS = {
  Symbols: z.strictObject({ ...ok, symbols: z.array(symbol) }),
  Market: z.strictObject({
    ...ok,
    symbols: z.array(
      z.strictObject({
        ...symbol.shape,
        quote: quote.nullable().describe('Null without prices'),
        closes: z.array(z.number()).optional().describe('The recent closes before that day, oldest first'),
      }),
    ),
    formulas: z.array(symbol).describe('The named formulas'),
    aliases: z.record(text, code).describe('Other codes and tickers, such as GC for XAU'),
  }),
  MarketQuotes: z.strictObject({ ...ok, quotes: z.record(code, quote) }),
  Latest: z.strictObject({
    ...ok,
    timestamp: seconds,
    rates: z.record(code, z.number()),
    metadata: metadataOf({
      at: text.describe('The time of the price, or its day if it is a close'),
      stale: z.boolean().describe('Whether the price is older than expected'),
      factor,
    }),
    metaData: z.record(code, z.unknown()).optional().describe(`${later}: the same as metadata`),
    unresolved,
  }),
  Historical: z.strictObject({
    ...ok,
    date: day,
    rates: z.record(
      code,
      ohlc.extend({ date: day.optional().describe(`${later}: the day that the record is from`) }),
    ),
    unresolved,
    metadata: metadataOf({ date: day, factor }),
  }),
  TimeSeries: z.strictObject({
    ...ok,
    unresolved,
    startDate: day,
    endDate: day,
    rates: z.record(day, z.record(code, ohlc)),
    metadata: metadataOf({ factors: z.record(day, z.number()).optional() }),
  }),
  Fluctuation: z.strictObject({
    ...ok,
    unresolved,
    startDate: day,
    endDate: day,
    rates: z.record(code, change),
    metadata: metadataOf({ startDate: day, endDate: day, startFactor: factor, endFactor: factor }),
  }),
  History: z.strictObject({
    ...ok,
    unresolved,
    startDate: dayOrTime,
    endDate: dayOrTime,
    interval: z.enum([...INTRADAY_INTERVALS, ...INTERVALS]),
    rates: z.array(historyRow),
    next: text.nullable().describe('Cursor of the next page; null on the last page'),
    metadata: metadataOf({}),
  }),
  Statistics: z.strictObject({
    ...ok,
    unresolved,
    startDate: day,
    endDate: day,
    statistics: z.record(code, statisticsRecord),
    correlation: z
      .record(code, z.record(code, z.number()))
      .describe('Of the log returns on common days, from -1 to 1; absent where it is not defined'),
    metadata: metadataOf({}),
  }),
  Revisions: z.union([
    z.strictObject({
      ...ok,
      unresolved,
      date: day,
      rates: z.record(code, versions),
      metadata: z.record(code, measure).optional(),
    }),
    z.strictObject({
      ...ok,
      unresolved,
      startDate: day,
      endDate: day,
      rates: z.record(day, z.record(code, versions)).describe('Only days with more than one version'),
      next: text.nullable().describe('Cursor of the next page; null on the last page'),
      metadata: z.record(code, measure).optional(),
    }),
  ]),
  Units: z.strictObject({
    ...ok,
    units: z.record(
      code,
      z.array(
        z.strictObject({
          unit: text,
          factor: z.number().describe('Multiply a price in the symbol’s own unit by this'),
        }),
      ),
    ),
    currencies: z.record(code, z.array(text)).describe('The currencies that `quote` accepts, sorted'),
  }),
  StreamRate: z.strictObject({ ...origin, symbol: code, rate: z.number(), date: day, at: text }),
} as const satisfies Record<string, z.ZodType>;
