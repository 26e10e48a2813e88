import { z } from 'zod';
import { INTERVALS } from '../../market/interval.ts';
import { INTRADAY_INTERVALS } from '../../market/intraday/interval.ts';
import { ERROR_STATUSES } from '../errors/errors.ts';
import { FAMILY_CODES } from '../versions/dialects.ts';
import { OPERATOR_SCHEMAS } from './operator-schemas.ts';
import { OPERATOR_TOOL_SCHEMAS } from './operator-tool-schemas.ts';
import { ages, day, dayOrTime, feedBasics, feedCoverage, success, text } from './schema-parts.ts';

/** Strict schemas of all responses: an extra or missing field fails the tests. The OpenAPI document is generated from them. */

const code = z.string().regex(/^[A-Z0-9._{}()*/+-]+$/);
const seconds = z.int().describe('Seconds since 1970-01-01 UTC');
const later = 'In /v2 and /v3';
const ohlc = z.strictObject({ open: z.number(), high: z.number(), low: z.number(), close: z.number() });
const change = z.strictObject({
  startRate: z.number(),
  endRate: z.number(),
  change: z.number(),
  changePercent: z.number(),
});
const ok = {
  success,
  warnings: z
    .array(text)
    .optional()
    .describe(
      'What had no effect or may surprise: a parameter under another name, a range before the history begins',
    ),
};
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

const plan = z.strictObject({
  name: text,
  quota: z.int().describe('Units per calendar month, in UTC'),
  delaySeconds: z.int(),
  maxSymbols: z.int(),
  maxSpanDays: z
    .int()
    .nullable()
    .describe('Days in one time series; null: what the version of the interface says'),
  burstPerSecond: z.int(),
  history: z.boolean().describe('Whether it includes /rates/history'),
});
const ownPlan = plan.extend({ maxSpanDays: z.int().describe('Days in one time series') });

const key = z.strictObject({
  id: text,
  name: z.string().describe('What its owner calls it; may be empty'),
  status: z.enum(['active', 'expired', 'revoked']),
  createdAt: seconds,
  expiresAt: seconds.nullable(),
  allowedIps: z.array(text).nullable(),
  headerOnly: z.boolean(),
});

const listedKey = key.extend({
  lastUsedAt: seconds.nullable().describe('When it last paid for an answer; null: not in the last 92 days'),
});

const dailyUsage = {
  startDate: day,
  endDate: day,
  days: z.array(z.strictObject({ date: day, endpoint: text, count: z.int() })),
  byKey: z
    .array(z.strictObject({ date: day, key: text, endpoint: text, count: z.int() }))
    .describe('Units by key, up to a quarter of a minute old'),
  events: z
    .array(z.strictObject({ percent: z.int(), used: z.int(), quota: z.int(), at: seconds }))
    .describe('The thresholds of the quota that were reached'),
};
const status = z.enum(['active', 'suspended']);
const account = { id: text, name: text, plan: text, status, createdAt: seconds };
const accountWithUsage = z.strictObject({ ...account, used: z.int(), quota: z.int() });
const issued = { success, apiKey: text.describe('The key. It is shown only once'), key };

const unresolved = z
  .record(text, z.strictObject({ message: text }))
  .optional()
  .describe('Only in /v3, with status 206: the unknown symbols of a request that names others as well');

const error = z.strictObject({
  success: z.literal(false),
  message: text.describe('What is wrong, what was received, and how to fix it'),
  statusCode: z.string().regex(/^[45]\d\d$/),
  code: z.enum(ERROR_STATUSES.map(({ code }) => code)),
  resetAt: seconds.optional().describe('With `quota_exhausted`: when the quota resets'),
  error: z.enum(FAMILY_CODES).optional().describe(later),
  path: text.optional().describe(`${later}: the path of the request`),
  timestamp: seconds.optional().describe(`${later}: the time of the response`),
});

const namedFormula = z.strictObject({
  code: text,
  name: text,
  expression: text.describe('Over symbols in braces, in one spelling'),
  unit: text.describe('`none` for a ratio'),
  currency: text.describe('`none` for a ratio'),
});

export const SCHEMAS = {
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
  Usage: z.strictObject({
    ...ok,
    plan: text,
    quota: z.int(),
    used: z.int(),
    remaining: z.int(),
    resetAt: seconds,
    exact: z
      .literal(false)
      .optional()
      .describe(
        'Present if the ledger or another replica did not respond in time: `used` may lack requests served by other replicas',
      ),
    asOf: seconds.optional().describe('With `exact: false`: when the other replicas last reported'),
  }),
  UsageDaily: z.strictObject({ ...ok, ...dailyUsage }),
  Account: z.strictObject({
    ...ok,
    account: z.strictObject({ id: text, name: text, status }),
    plan: ownPlan,
    key,
  }),
  Capabilities: z.strictObject({
    ...ok,
    plan: text,
    delaySeconds: z.int().describe('How far behind real time the prices are'),
    symbols: z.strictObject({
      available: z.int().describe('Number of symbols that /symbols lists'),
      maxPerRequest: z.int(),
      maxPerStatistics: z.int().describe('The same for /rates/statistics'),
    }),
    span: z.strictObject({
      timeSeriesDays: z.int().describe('Days between the two dates of a time series, in this version'),
      statisticsDays: z.int().nullable().describe('The same for /rates/statistics; null: unlimited'),
    }),
    formats: z.array(text).describe('What `format` accepts'),
    history: z.strictObject({
      included: z.boolean().describe('Whether the plan includes /rates/history, over any span'),
      rowsPerUnit: z.int().describe('Rows in a page of JSON, and those that a unit pays for in a table'),
    }),
    streams: z.strictObject({
      allowed: z.boolean(),
      maxOpen: z.int().describe('Streams that the account may have open in each process'),
      eventsPerUnit: z.int(),
    }),
    idempotency: z
      .strictObject({
        keptSeconds: z
          .int()
          .describe('How long a repeated request with the same `X-Request-Id: once-…` is free'),
        uptimeSeconds: z.int().describe('How long this process has kept answers: it knows no older ones'),
      })
      .nullable()
      .describe(
        'Null if several processes serve the account: another one may charge a repeated request again',
      ),
    burst: z.strictObject({ perSecond: z.int() }),
    quota: z
      .strictObject({
        units: z.int().describe('Units per calendar month, in UTC'),
        used: z.int(),
        remaining: z.int(),
        resetAt: seconds,
      })
      .nullable()
      .describe('Null for the shared key of the page, whose limits apply per address'),
    key,
  }),
  DryRun: z
    .strictObject({
      ...ok,
      dryRun: z.literal(true),
      cost: z.int().describe('Units that the request would cost'),
      exact: z
        .literal(false)
        .optional()
        .describe('Present if it may cost more: a stream, or a table that is read from the ledger'),
      admitted: z.boolean().describe('Whether what is left of the quota pays for it'),
      remaining: z.int().describe('Units that are left'),
      resetAt: seconds.optional().describe('When the quota resets'),
      code: z.enum(['quota_exhausted', 'rate_limited']).optional().describe('Why it would not be admitted'),
      message: text.optional().describe('The same in words'),
      unresolved,
    })
    .describe('The response to dryRun=true'),
  Keys: z.strictObject({ ...ok, keys: z.array(listedKey) }),
  IssuedKey: z.strictObject(issued),
  ChangedKey: z.strictObject({ success, key }),
  RevokedKey: z.strictObject({ success, id: text, revoked: z.literal(true) }),
  AdminAccounts: z.strictObject({ success, accounts: z.array(accountWithUsage) }),
  NewAdminAccount: z.strictObject({ ...issued, account: z.strictObject(account) }),
  AdminAccount: z.strictObject({
    success,
    account: accountWithUsage,
    keys: z.array(listedKey),
    ...dailyUsage,
  }),
  ChangedAccount: z.strictObject({ success, account: z.strictObject(account) }),
  Plans: z.strictObject({ success, plans: z.array(plan) }),
  OnePlan: z.strictObject({ success, plan }),
  DeletedAccount: z.strictObject({ success, id: text, deleted: z.literal(true) }),
  DeletedSymbol: z.strictObject({ success, symbol: text, deleted: z.literal(true) }),
  Formulas: z.strictObject({ success, formulas: z.array(namedFormula) }),
  OneFormula: z.strictObject({ success, formula: namedFormula }),
  DeletedFormula: z.strictObject({ success, formula: text, deleted: z.literal(true) }),
  DeletedPlan: z.strictObject({ success, name: text, deleted: z.literal(true) }),
  ...OPERATOR_SCHEMAS,
  ...OPERATOR_TOOL_SCHEMAS,
  Feeds: z.strictObject({
    ...ok,
    feeds: z.array(
      z.strictObject({
        ...feedBasics,
        late: z.boolean(),
        schedule: text,
        zone: text,
        symbols: z.int().describe('Number of symbols it provides'),
        lastRun: z.strictObject({ at: text, status: text }).nullable(),
        lastOkAt: text.nullable(),
        nextRunAt: text.nullable(),
        failing: z
          .array(z.strictObject({ symbol: text, since: text }))
          .describe('Symbols whose series fails while others of the feed succeed'),
        ...feedCoverage,
      }),
    ),
  }),
  Live: z.strictObject({ status: z.literal('live') }),
  Health: z.strictObject({
    status: z.enum(['starting', 'ready', 'unavailable', 'draining']),
    ready: z.boolean(),
    version: text,
    revision: z.int(),
    ...ages,
    simulated: z.boolean(),
    alarms: z.array(text).describe('Names of the active alarms, such as `ledger.unreachable`'),
    lateFeeds: z.array(text).describe('Feeds that have missed their schedule twice'),
    partialFeeds: z.array(text).describe('Feeds that have failing series'),
    diskFull: z.boolean().describe('Whether the disk is too full to accept prices'),
  }),
  Error: error,
  UsageError: z
    .union([z.strictObject({ success: z.literal(false), error: text }), error])
    .describe(`${later}, the errors of /usage are like all others`),
} as const satisfies Record<string, z.ZodType>;

export type SchemaName = keyof typeof SCHEMAS;
