/** Accounts, keys, plans and usage. */

import { z } from 'zod';
import { day, ok, seconds, status, success, text, unresolved } from './parts.ts';

const plan = z.strictObject({
  name: text,
  quota: z.int().describe('Units per calendar month, in UTC'),
  delaySeconds: z.int(),
  maxSymbols: z.int(),
  maxSpanDays: z
    .int()
    .nullable()
    .describe('Days in one time series; null: the limit of the interface version'),
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
  lastUsedAt: seconds.nullable().describe('When it last paid for a response; null: not in the last 92 days'),
});

const dailyUsage = {
  startDate: day,
  endDate: day,
  days: z.array(z.strictObject({ date: day, endpoint: text, count: z.int() })),
  byKey: z
    .array(z.strictObject({ date: day, key: text, endpoint: text, count: z.int() }))
    .describe('Units by key, seconds old; up to five minutes with many thousands of active keys'),
  events: z
    .array(z.strictObject({ percent: z.int(), used: z.int(), quota: z.int(), at: seconds }))
    .describe('The thresholds of the quota that were reached'),
};

const account = { id: text, name: text, plan: text, status, createdAt: seconds };

const accountWithUsage = z.strictObject({ ...account, used: z.int(), quota: z.int() });

const issued = { success, apiKey: text.describe('The key. It is shown only once'), key };

const namedFormula = z.strictObject({
  code: text,
  name: text,
  expression: text.describe('Symbols in braces, in normalized spelling'),
  unit: text.describe('`none` for a ratio'),
  currency: text.describe('`none` for a ratio'),
});

const staleness = {
  exact: z
    .literal(false)
    .optional()
    .describe(
      'Present if the ledger or a replica did not respond in time: requests that it has not reported are not counted',
    ),
  asOf: seconds.optional().describe('With `exact: false`: when all replicas had last reported'),
};

export const ACCOUNT_SCHEMAS = {
  Usage: z.strictObject({
    ...ok,
    plan: text,
    quota: z.int(),
    used: z.int(),
    remaining: z.int(),
    resetAt: seconds,
    ...staleness,
  }),
  UsageDaily: z.strictObject({ ...ok, ...dailyUsage, ...staleness }),
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
      rowsPerUnit: z.int().describe('Rows in a page of JSON, and rows of a table per unit'),
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
        uptimeSeconds: z
          .int()
          .describe('How long this process has stored responses; it does not recognize older requests'),
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
      admitted: z.boolean().describe('Whether the remaining quota covers it'),
      remaining: z.int().describe('Units that are left'),
      resetAt: seconds.optional().describe('When the quota resets'),
      code: z.enum(['quota_exhausted', 'rate_limited']).optional().describe('Why it would not be admitted'),
      message: text.optional().describe('The same in words'),
      unresolved,
    })
    .describe('The response to dryRun=true'),
  Keys: z.strictObject({ ...ok, keys: z.array(listedKey) }),
  IssuedKey: z.strictObject({ ...ok, ...issued }),
  ChangedKey: z.strictObject({ ...ok, key }),
  RevokedKey: z.strictObject({ ...ok, id: text, revoked: z.literal(true) }),
  AdminAccounts: z.strictObject({
    success,
    accounts: z.array(accountWithUsage),
    next: text.nullable().describe('The path of the next page; null on the last one'),
  }),
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
  DeletedSymbol: z.strictObject({
    success,
    symbol: text,
    deleted: z.literal(true),
    formulas: z.array(text).describe('Formulas that use the symbol: without it, they have no values'),
  }),
  Formulas: z.strictObject({ success, formulas: z.array(namedFormula) }),
  OneFormula: z.strictObject({ success, formula: namedFormula }),
  DeletedFormula: z.strictObject({ success, formula: text, deleted: z.literal(true) }),
  DeletedPlan: z.strictObject({ success, name: text, deleted: z.literal(true) }),
} as const satisfies Record<string, z.ZodType>;
