import { z } from 'zod';

/** The bodies of interface.md with what contract.md adds, strict: a member more or less fails. */
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
const code = z.string().regex(/^[A-Z0-9._-]+$/);
const text = z.string().min(1);
const success = z.literal(true);
const ohlc = z.strictObject({ open: z.number(), high: z.number(), low: z.number(), close: z.number() });
const change = z.strictObject({
  startRate: z.number(),
  endRate: z.number(),
  change: z.number(),
  changePercent: z.number(),
});
const factor = z.number().optional();
const made = { unit: text, quote: text, source: text };
const metadataOf = <T extends z.ZodRawShape>(more: T) =>
  z.record(code, z.strictObject({ ...made, ...more })).optional();

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

/** By the last part of the path. */
export const SUCCESS_SHAPES: Readonly<Record<string, z.ZodType>> = {
  symbols: z.strictObject({ success, symbols: z.array(symbol) }),
  latest: z.strictObject({
    success,
    timestamp: z.int(),
    rates: z.record(code, z.number()),
    metadata: metadataOf({ at: text, stale: z.boolean(), factor }),
  }),
  historical: z.strictObject({
    success,
    date: day,
    rates: z.record(code, ohlc),
    metadata: metadataOf({ date: day, factor }),
  }),
  'time-series': z.strictObject({
    success,
    startDate: day,
    endDate: day,
    rates: z.record(day, z.record(code, ohlc)),
    metadata: metadataOf({ factors: z.record(day, z.number()).optional() }),
  }),
  fluctuation: z.strictObject({
    success,
    startDate: day,
    endDate: day,
    rates: z.record(code, change),
    metadata: metadataOf({ startDate: day, endDate: day, startFactor: factor, endFactor: factor }),
  }),
  history: z.strictObject({
    success,
    startDate: day,
    endDate: day,
    interval: z.enum(['day', 'week', 'month', 'quarter', 'year']),
    rates: z.array(z.strictObject({ date: day, symbol: code, ...ohlc.shape, factor })),
    next: text.nullable(),
    metadata: metadataOf({}),
  }),
  revisions: z.strictObject({
    success,
    date: day,
    rates: z.record(
      code,
      z.array(
        z.strictObject({
          ...ohlc.shape,
          source: text,
          recordedAt: z.iso.datetime(),
          reason: text.nullable(),
          revision: z.int(),
        }),
      ),
    ),
    metadata: z.record(code, z.strictObject({ unit: text, quote: text })).optional(),
  }),
  usage: z.strictObject({
    success,
    plan: text,
    quota: z.int(),
    used: z.int(),
    remaining: z.int(),
    resetAt: z.int(),
  }),
};

export const REFUSAL_SHAPE = z.strictObject({
  success: z.literal(false),
  message: text,
  statusCode: z.string().regex(/^[45]\d\d$/),
  code: z.string().regex(/^[a-z_]+$/),
});

export const USAGE_REFUSAL_SHAPE = z.strictObject({ success: z.literal(false), error: text });
