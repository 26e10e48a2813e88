import { z } from 'zod';
import { ERROR_STATUSES } from '../errors/errors.ts';
import { OPERATOR_SCHEMAS } from './operator-schemas.ts';
import { day, feedBasics, feedCoverage, success, text } from './schema-parts.ts';

/** Every answer, strict: a member more or less is a mistake. The document, the tests and the docs are made from these. */

const code = z.string().regex(/^[A-Z0-9._-]+$/);
const seconds = z.int().describe('Seconds since 1970-01-01 UTC');
const ohlc = z.strictObject({ open: z.number(), high: z.number(), low: z.number(), close: z.number() });
const change = z.strictObject({
  startRate: z.number(),
  endRate: z.number(),
  change: z.number(),
  changePercent: z.number(),
});
const made = {
  unit: text.describe('The unit of the number, for example T.oz'),
  quote: text.describe('The currency of the number'),
  source: text.describe('Where it comes from; "simulated" is made up'),
};
const factor = z.number().describe('What the published number was multiplied by').optional();
const metadataOf = <T extends z.ZodRawShape>(more: T) =>
  z
    .record(code, z.strictObject({ ...made, ...more }))
    .describe('What each number is; left out with metadata=false')
    .optional();

const symbol = z.strictObject({
  symbol: code,
  category: text,
  name: text,
  currency: z.strictObject({ code: text, name: text, symbol: text }),
  unit: z.strictObject({ symbol: text, name: text }),
  status: z.enum(['active', 'deprecated']),
  updateInterval: z.enum(['minute', 'day', 'week', 'month']),
  firstDate: day.nullable(),
  lastDate: day.nullable(),
});

const measure = z.strictObject({ unit: text, quote: text });
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
      .describe('The bar was withdrawn: from this version on the day has none'),
  ]),
);

const plan = z.strictObject({
  name: text,
  quota: z.int().describe('Answers in a calendar month, UTC'),
  delaySeconds: z.int(),
  maxSymbols: z.int(),
  maxSpanDays: z.int(),
  burstPerSecond: z.int(),
  history: z.boolean().describe('Whether /rates/history is part of it'),
});

const key = z.strictObject({
  id: text,
  status: z.enum(['active', 'expired', 'revoked']),
  createdAt: seconds,
  expiresAt: seconds.nullable(),
  allowedIps: z.array(text).nullable(),
  headerOnly: z.boolean(),
});

const usageDays = z.array(z.strictObject({ date: day, endpoint: text, count: z.int() }));
const status = z.enum(['active', 'suspended']);
const account = { id: text, name: text, plan: text, status, createdAt: seconds };
const accountWithUse = z.strictObject({ ...account, used: z.int(), quota: z.int() });
const issued = { success, apiKey: text.describe('The key, shown this once'), key };

export const SCHEMAS = {
  Symbols: z.strictObject({ success, symbols: z.array(symbol) }),
  Latest: z.strictObject({
    success,
    timestamp: seconds,
    rates: z.record(code, z.number()),
    metadata: metadataOf({
      at: text.describe('The moment or the day of the price'),
      stale: z.boolean().describe('Whether a newer price should be there'),
      factor,
    }),
  }),
  Historical: z.strictObject({
    success,
    date: day,
    rates: z.record(code, ohlc),
    metadata: metadataOf({ date: day, factor }),
  }),
  TimeSeries: z.strictObject({
    success,
    startDate: day,
    endDate: day,
    rates: z.record(day, z.record(code, ohlc)),
    metadata: metadataOf({ factors: z.record(day, z.number()).optional() }),
  }),
  Fluctuation: z.strictObject({
    success,
    startDate: day,
    endDate: day,
    rates: z.record(code, change),
    metadata: metadataOf({ startDate: day, endDate: day, startFactor: factor, endFactor: factor }),
  }),
  History: z.strictObject({
    success,
    startDate: day,
    endDate: day,
    interval: z.enum(['day', 'week', 'month', 'quarter', 'year']),
    rates: z.array(z.strictObject({ date: day, symbol: code, ...ohlc.shape, factor })),
    next: text.nullable().describe('The cursor of the next page; null when there is none'),
    metadata: metadataOf({}),
  }),
  Revisions: z.union([
    z.strictObject({
      success,
      date: day,
      rates: z.record(code, versions),
      metadata: z.record(code, measure).optional(),
    }),
    z.strictObject({
      success,
      startDate: day,
      endDate: day,
      rates: z.record(day, z.record(code, versions)).describe('Only days with more than one version'),
      next: text.nullable().describe('The cursor of the next page; null when there is none'),
      metadata: z.record(code, measure).optional(),
    }),
  ]),
  Units: z.strictObject({
    success,
    units: z.record(
      code,
      z.array(
        z.strictObject({
          unit: text,
          factor: z.number().describe('What a price per the own unit is multiplied by'),
        }),
      ),
    ),
  }),
  StreamRate: z.strictObject({ symbol: code, rate: z.number(), date: day, at: text, ...made }),
  Usage: z.strictObject({
    success,
    plan: text,
    quota: z.int(),
    used: z.int(),
    remaining: z.int(),
    resetAt: seconds,
    exact: z
      .literal(false)
      .optional()
      .describe(
        'Present when the ledger or another replica did not answer in time: `used` may lack requests of other replicas',
      ),
    asOf: seconds.optional().describe('With `exact: false`: when other replicas were last heard of'),
  }),
  UsageDaily: z.strictObject({
    success,
    startDate: day,
    endDate: day,
    days: usageDays,
    events: z.array(z.strictObject({ percent: z.int(), used: z.int(), quota: z.int(), at: seconds })),
  }),
  Account: z.strictObject({ success, account: z.strictObject({ id: text, name: text, status }), plan, key }),
  Keys: z.strictObject({ success, keys: z.array(key) }),
  IssuedKey: z.strictObject(issued),
  RevokedKey: z.strictObject({ success, id: text, revoked: z.literal(true) }),
  AdminAccounts: z.strictObject({ success, accounts: z.array(accountWithUse) }),
  NewAdminAccount: z.strictObject({ ...issued, account: z.strictObject(account) }),
  AdminAccount: z.strictObject({ success, account: accountWithUse, keys: z.array(key), days: usageDays }),
  ChangedAccount: z.strictObject({ success, account: z.strictObject(account) }),
  Plans: z.strictObject({ success, plans: z.array(plan) }),
  OnePlan: z.strictObject({ success, plan }),
  DeletedAccount: z.strictObject({ success, id: text, deleted: z.literal(true) }),
  DeletedSymbol: z.strictObject({ success, symbol: text, deleted: z.literal(true) }),
  DeletedPlan: z.strictObject({ success, name: text, deleted: z.literal(true) }),
  ...OPERATOR_SCHEMAS,
  Feeds: z.strictObject({
    success,
    feeds: z.array(
      z.strictObject({
        ...feedBasics,
        late: z.boolean(),
        schedule: text,
        zone: text,
        symbols: z.int().describe('How many symbols it brings'),
        lastRun: z.strictObject({ at: text, status: text }).nullable(),
        lastOkAt: text.nullable(),
        nextRunAt: text.nullable(),
        failing: z
          .array(z.strictObject({ symbol: text, since: text }))
          .describe('Symbols whose series fails while the others of the feed do not'),
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
    newestDataAgeSeconds: z
      .int()
      .nullable()
      .describe(
        'Age of the newest price, by its own time: of a tick its moment, of a bar the end of its session',
      ),
    newestWriteAgeSeconds: z
      .int()
      .nullable()
      .describe('Time since a price was last written, whatever day it is of'),
    simulated: z.boolean(),
    alarms: z.array(text).describe('Names of the alarms that are on, such as `ledger.unreachable`'),
    lateFeeds: z.array(text).describe('Feeds that have missed their schedule twice'),
    partialFeeds: z.array(text).describe('Feeds of which some series fail while the others do not'),
    diskFull: z.boolean().describe('Whether the disk is nearly full, so that no prices are taken in'),
  }),
  Error: z.strictObject({
    success: z.literal(false),
    message: text.describe('What was wrong, what was received, and what would be right'),
    statusCode: z.string().regex(/^[45]\d\d$/),
    code: z.enum(ERROR_STATUSES.map(({ code }) => code)),
  }),
  UsageError: z.strictObject({ success: z.literal(false), error: text }),
} as const satisfies Record<string, z.ZodType>;

export type SchemaName = keyof typeof SCHEMAS;
