import type { z } from 'zod';
import type { IncomingRequest } from '../../../http/message/incoming-request.ts';
import { expectedSource } from '../../../ledger/symbols/sources.ts';
import type { Ohlc } from '../../../market/bar.ts';
import { type Day, FIRST_DAY, MS_PER_DAY, parseDay } from '../../../market/day.ts';
import { printNumber, roundPrice } from '../../../market/decimal.ts';
import { isPlainText } from '../../../runtime/plain-text.ts';
import { refuse } from '../../errors/errors.ts';
import type { QueryParams } from '../../model/query.ts';
import { bodyProblems, receivedText } from '../../params/body-problems.ts';
import { readText } from '../../params/body-text.ts';
import { readChangeFlag, single } from '../../params/parameters.ts';
import { NOT_A_TIME, PUSH_ENVELOPE, PUSHED_BAR, PUSHED_TICK } from './push-schema.ts';

/** Records per request. Bodies are limited to 1 MiB in any case. */
const RECORDS_MAX = 10_000;

/** A batch whose records are not validated yet. */
export interface Batch {
  source: string;
  records: readonly unknown[];
  /** Whether to accept bars that look like a change of unit. */
  accept: boolean;
}

export interface InvalidRecord {
  reason: string;
}

/** Reads JSON (an array, or an object with the array under `member`) or NDJSON. */
export async function readBatch(
  request: IncomingRequest,
  query: QueryParams,
  member: 'ticks' | 'bars',
): Promise<Batch> {
  const encoding = request.headers.get('content-encoding');
  if (encoding && encoding !== 'identity')
    problem(`it is compressed (${encoding.slice(0, 40)}), which is not supported; send it uncompressed`);
  const text = await readText(request);
  const isLines = /\b(x-)?ndjson\b|jsonl/i.test(request.headers.get('content-type') ?? '');
  const body = isLines ? readLines(text) : readJson(text, member);
  const source = single(query, 'source')?.trim() || body.source || 'push';
  const expected = expectedSource(source);
  if (expected !== undefined) problem(`source must be ${expected} (received "${source.slice(0, 40)}")`);
  const { records } = body;
  if (records.length === 0) problem(`it holds no ${member}`);
  if (records.length > RECORDS_MAX) {
    problem(`it holds ${records.length} ${member}, and at most ${RECORDS_MAX} may be sent at a time`);
  }
  return { source, records, accept: readChangeFlag(query, 'accept') || body.accept };
}

function readJson(text: string, member: 'ticks' | 'bars') {
  const value = parseJson(text);
  if (value === UNREADABLE) {
    const isLines = /[\r\n]/.test(text.trim()) && parseJson(text.trim().split('\n')[0]!) !== UNREADABLE;
    problem(`it is not JSON${isLines ? '; NDJSON is sent with "Content-Type: application/x-ndjson"' : ''}`);
  }
  if (Array.isArray(value)) return { records: value as unknown[], source: undefined, accept: false };
  const envelope = PUSH_ENVELOPE.safeParse(value);
  const records = envelope.success ? (value as Record<string, unknown>)[member] : undefined;
  if (!envelope.success || !Array.isArray(records)) {
    return problem(`it must be a list of ${member}, or {"source": "…", "${member}": […]}`);
  }
  return {
    records: records as unknown[],
    source: envelope.data.source,
    accept: envelope.data.accept === true,
  };
}

/** A line that is not JSON makes one record invalid, not the whole batch. */
function readLines(text: string) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return { records: lines.map(parseJson), source: undefined, accept: false };
}

const UNREADABLE = Symbol('not JSON');

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return UNREADABLE;
  }
}

function problem(what: string): never {
  throw refuse('invalid_body', { problems: [what] });
}

export interface TickRecord {
  symbol: string;
  price: number;
  at: number;
  id: string | undefined;
}

/** Tolerance for the sender's clock. */
const AHEAD_MS_MAX = 60_000;
/** Smaller numbers are seconds: as milliseconds they would be before March 1973. */
const SECONDS_BELOW = 1e11;

export function readTick(record: unknown, now: number): TickRecord | InvalidRecord {
  const tick = plainTick(record) ?? read(PUSHED_TICK, record);
  if ('reason' in tick) return tick;
  const at = readTime(tick.at);
  if (at === undefined) {
    return { reason: `at ${NOT_A_TIME} (received ${receivedText(tick.at)})` };
  }
  if (at > now + AHEAD_MS_MAX) return { reason: `at: ${new Date(at).toISOString()} is in the future` };
  return { symbol: tick.symbol, price: tick.price, at, id: tick.id };
}

const PLAIN_SYMBOL = /^[A-Z0-9._-]{1,64}$/;

/** Fast path for well-formed ticks in which the schema would only round the price; the schema takes ten times as long. */
function plainTick(record: unknown): z.output<typeof PUSHED_TICK> | undefined {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return undefined;
  const { symbol, price: sent, at, id } = record as Record<string, unknown>;
  if (typeof symbol !== 'string' || !PLAIN_SYMBOL.test(symbol)) return undefined;
  if (typeof sent !== 'number' || !Number.isFinite(sent)) return undefined;
  const price = roundPrice(sent + 0); // −0 + 0 is 0
  if (!Number.isFinite(price)) return undefined;
  if (typeof at !== 'string' && (typeof at !== 'number' || !Number.isFinite(at))) return undefined;
  if (id === undefined) return { symbol, price, at };
  if (typeof id !== 'string' || id === '' || id.length > 100 || !isPlainText(id)) return undefined;
  return { symbol, price, at, id };
}

const ZONED = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:?\d\d)$/i;

/** Reads a time as ms. ISO text must name its time zone. */
function readTime(at: string | number): number | undefined {
  // Date.parse reads 30 February as 2 March.
  const isZoned = typeof at === 'string' && ZONED.test(at) && parseDay(at.slice(0, 10)) !== undefined;
  const ms =
    typeof at === 'number' ? at * (Math.abs(at) < SECONDS_BELOW ? 1000 : 1) : isZoned ? Date.parse(at) : NaN;
  const whole = Math.round(ms);
  return whole >= FIRST_DAY * MS_PER_DAY && whole < 8e15 ? whole : undefined;
}

export interface BarRecord extends Ohlc {
  symbol: string;
  day: Day;
}

export function readBar(record: unknown): BarRecord | InvalidRecord {
  const bar = read(PUSHED_BAR, record);
  if ('reason' in bar) return bar;
  const day = parseDay(bar.date);
  if (day === undefined)
    return { reason: `date must be a day that exists, as YYYY-MM-DD (received ${receivedText(bar.date)})` };
  const { price, open = price, high = price, low = price, close = price } = bar;
  if (price !== undefined && (bar.open ?? bar.high ?? bar.low ?? bar.close) !== undefined) {
    return { reason: 'price: stands for open, high, low and close; send either it or those four' };
  }
  if (open === undefined || high === undefined || low === undefined || close === undefined) {
    return { reason: 'it must have open, high, low and close, or price' };
  }
  if (high < low) return { reason: `high: ${printNumber(high)} is below low ${printNumber(low)}` };
  return { symbol: bar.symbol, day, open, high, low, close };
}

function read<T extends object>(schema: z.ZodType<T>, record: unknown): T | InvalidRecord {
  if (record === UNREADABLE) return { reason: 'the line is not JSON' };
  const parsed = schema.safeParse(record);
  if (parsed.success) return parsed.data;
  return { reason: bodyProblems(parsed.error, record)[0]! };
}
