/** One suggestion list: a code that is not known, and the known ones most like it. */
interface UnknownCode {
  code: string;
  nearest: readonly string[];
}

interface NoData {
  code: string;
  /** The first day that has data, as text. */
  firstDate: string | undefined;
}

interface MissingRate {
  date: string;
  /** Such as EUR/USD. */
  rate: string;
  /** How far back it was looked for. */
  days: number;
}

/**
 * Every refusal: its stable code, its status, and the words for the caller. A message says what was wrong, what was
 * received, and what would be right.
 */
const ERRORS = {
  missing_parameter: entry(
    400,
    (d: { name: string; example: string }) =>
      `The parameter "${d.name}" is missing. Add it, for example ${d.name}=${d.example}.`,
  ),
  invalid_symbols: entry(
    400,
    (d: { received: string }) =>
      `The parameter "symbols" names no symbol (received "${d.received}"). Send codes separated by commas, for example symbols=XAU,WTIOIL-FUT. GET /symbols lists them.`,
  ),
  too_many_symbols: entry(
    400,
    (d: { received: number; max: number }) =>
      `The request names ${d.received} symbols and the plan allows ${d.max} in one request. Ask for fewer at a time.`,
  ),
  invalid_date: entry(
    400,
    (d: { name: string; received: string }) =>
      `The parameter "${d.name}" must be a day that exists, as YYYY-MM-DD, from 1900-01-01 to 2199-12-31 (received "${d.received}").`,
  ),
  date_in_future: entry(
    400,
    (d: { name: string; received: string; today: string }) =>
      `The parameter "${d.name}" is in the future (received ${d.received}). Today is ${d.today}; ask for that day or an earlier one.`,
  ),
  invalid_range: entry(
    400,
    (d: { startDate: string; endDate: string }) =>
      `The startDate ${d.startDate} is after the endDate ${d.endDate}. Swap them.`,
  ),
  range_too_long: entry(
    400,
    (d: { days: number; maxDays: number }) =>
      `The range spans ${d.days} days and the limit is ${d.maxDays} days between startDate and endDate. Ask for shorter ranges one after the other.`,
  ),
  repeated_parameter: entry(
    400,
    (d: { name: string }) => `The parameter "${d.name}" was sent more than once. Send it once.`,
  ),
  invalid_as_of: entry(
    400,
    (d: { received: string }) =>
      `The parameter "asOf" must be a day, as YYYY-MM-DD, or a time, as 2024-05-14T15:30:00Z (received "${d.received}").`,
  ),
  invalid_unit: entry(
    400,
    (d: { received: string; misfits: readonly { code: string; units: readonly string[] }[] }) =>
      `The unit "${d.received}" does not fit ${d.misfits.map(fitting).join('; ')}.`,
  ),
  invalid_interval: entry(
    400,
    (d: { received: string; intervals: readonly string[] }) =>
      `The parameter "interval" must be one of ${d.intervals.join(', ')} (received "${d.received}").`,
  ),
  invalid_cursor: entry(
    400,
    () =>
      'The parameter "cursor" is not one that this request was given. Send "next" of the last answer, with all other parameters as they were.',
  ),
  invalid_format: entry(
    400,
    (d: { received: string; formats: readonly string[] }) =>
      `The parameter "format" must be one of ${d.formats.join(', ')} (received "${d.received}").`,
  ),
  missing_key: entry(
    401,
    () => 'No API key was sent. Send it in the header "x-api-key" or as the parameter "apiKey".',
  ),
  invalid_key: entry(
    401,
    () => 'The API key is not valid: it is unknown, expired or revoked. Check it, or ask for a new one.',
  ),
  invalid_admin_token: entry(
    401,
    () =>
      'This needs the admin token. Send the header "Authorization: Bearer …" with the value of OPENPIT_ADMIN_TOKEN.',
  ),
  account_suspended: entry(
    403,
    () => 'The account of this API key is suspended. Ask the operator of this service.',
  ),
  key_not_allowed: entry(403, (d: { why: 'address' | 'url' }) =>
    d.why === 'url'
      ? 'This API key may not be sent in the URL. Send it in the header "x-api-key".'
      : 'This API key may not be used from your address. Ask the owner of the account to allow it.',
  ),
  history_not_in_plan: entry(
    403,
    (d: { plan: string }) =>
      `The plan "${d.plan}" has no long history. Use /rates/time-series, or ask the operator of this service.`,
  ),
  not_found: entry(404, (d: { path: string; hint: string }) => `There is nothing at ${d.path}. ${d.hint}`),
  unknown_symbol: entry(
    404,
    (d: { unknown: readonly UnknownCode[] }) =>
      `Unknown symbol${d.unknown.length > 1 ? 's' : ''}: ${d.unknown.map(suggest).join('; ')}. GET /symbols lists all codes.`,
  ),
  unknown_currency: entry(
    404,
    (d: { received: string; code: string; own: string; known: readonly string[] }) =>
      `${d.code} is quoted in ${d.own} and cannot be given in "${d.received}". The currencies known for it are ${d.known.join(', ')}.`,
  ),
  no_data: entry(404, (d: { date: string | undefined; missing: readonly NoData[] } | MissingRate) =>
    'rate' in d
      ? `No exchange rate ${d.rate} is known on ${d.date} or in the ${d.days} days before it, so nothing can be converted then.`
      : `No data${d.date ? ` on or shortly before ${d.date}` : ''} for ${d.missing.map(startOf).join('; ')}.`,
  ),
  method_not_allowed: entry(
    405,
    (d: { method: string; allowed: string }) =>
      `The method ${d.method} is not allowed here. Use ${d.allowed}.`,
  ),
  uri_too_long: entry(
    414,
    (d: { length: number; max: number }) =>
      `The URL has ${d.length} characters and the limit is ${d.max}. Ask for fewer symbols at a time.`,
  ),
  rate_limited: entry(
    429,
    (d: { limit: string }) => `Too many requests: ${d.limit}. Wait as many seconds as "Retry-After" says.`,
  ),
  quota_exhausted: entry(
    429,
    (d: { quota: number; plan: string; resetAt: string }) =>
      `The monthly quota of ${d.quota} requests of the plan "${d.plan}" is used up. It starts anew at ${d.resetAt}.`,
  ),
  internal: entry(
    500,
    (d: { requestId: string }) =>
      `Something went wrong inside the service. It was logged as request ${d.requestId}.`,
  ),
  unavailable: entry(
    503,
    (d: { why: string }) =>
      `The service cannot answer now: ${d.why}. Try again after as many seconds as "Retry-After" says.`,
  ),
} as const;

export type ErrorCode = keyof typeof ERRORS;
type DetailsOf<C extends ErrorCode> = Parameters<(typeof ERRORS)[C]['message']>[0];

/** A refusal that the caller is told of. It is thrown by what reads a request, and caught in one place. */
export class Refusal {
  readonly code: ErrorCode;
  readonly status: number;
  readonly message: string;
  /** For `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, status: number, message: string, retryAfterSeconds?: number) {
    this.code = code;
    this.status = status;
    this.message = message;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function refuse<C extends ErrorCode>(
  code: C,
  details: DetailsOf<C>,
  retryAfterSeconds?: number,
): Refusal {
  const { status, message } = ERRORS[code];
  return new Refusal(code, status, (message as (d: DetailsOf<C>) => string)(details), retryAfterSeconds);
}

/** Code and status of every refusal, for the documentation. */
export const ERROR_STATUSES: readonly { code: ErrorCode; status: number }[] = Object.entries(ERRORS).map(
  ([code, { status }]) => ({ code: code as ErrorCode, status }),
);

function entry<D>(status: number, message: (details: D) => string) {
  return { status, message };
}

function suggest({ code, nearest }: UnknownCode): string {
  return nearest.length > 0 ? `${code} (did you mean ${nearest.join(', ')}?)` : code;
}

function fitting({ code, units }: { code: string; units: readonly string[] }): string {
  return `${code} (which has ${units.join(', ')})`;
}

function startOf({ code, firstDate }: NoData): string {
  return firstDate ? `${code} (its data starts on ${firstDate})` : `${code} (it has no data yet)`;
}
