import {
  extentOf,
  fitting,
  formulaHint,
  type MissingRate,
  missingRate,
  NOT_ALLOWED,
  type NoData,
  suggest,
  type UnknownCode,
  type UnknownCurrency,
  type UnknownParameter,
  unknownParameter,
} from './error-details.ts';

const FORMULA_SYNTAX =
  'A formula has symbols in braces, numbers, + - * / and parentheses, for example {RB-FUT}*42-{WTIOIL-FUT}; in a URL, write + as %2B.';

/**
 * Every error: its stable code, its status and its message. A message says what is wrong, what was received, and how to
 * fix it.
 */
export const ERRORS = {
  missing_parameter: entry(
    400,
    (d: { name: string; example: string; sentInstead?: string | undefined }) =>
      d.sentInstead === undefined
        ? `The parameter "${d.name}" is missing. Add it, for example ${d.name}=${d.example}.`
        : `The parameter "${d.name}" is missing (received "${d.sentInstead}"). Rename it, for example ${d.name}=${d.example}.`,
    { name: 'symbols', example: 'XAU' },
  ),
  invalid_symbols: entry(
    400,
    (d: { received: string }) =>
      `The parameter "symbols" contains no symbol (received "${d.received}"). Send codes separated by commas, for example symbols=XAU,WTIOIL-FUT. GET /symbols lists them.`,
    { received: ',,' },
  ),
  too_many_symbols: entry(
    400,
    (d: { received: number; max: number; path?: string }) =>
      `The request names ${d.received} symbols and ${d.path ?? 'the plan'} allows ${d.max} in one request. Ask for fewer at a time.`,
    { received: 21, max: 20 },
  ),
  invalid_date: entry(
    400,
    (d: { name: string; received: string; mayBeTime?: boolean }) =>
      `The parameter "${d.name}" must be a day that exists, as YYYY-MM-DD, ${d.mayBeTime ? 'or a time, as 2024-05-14T15:30:00Z, ' : ''}from 1900-01-01 to 2199-12-31 (received "${d.received}").`,
    { name: 'date', received: '2023-02-29' },
  ),
  date_in_future: entry(
    400,
    (d: { name: string; received: string } & ({ today: string } | { now: string })) =>
      `The parameter "${d.name}" is in the future (received ${d.received}). ${'today' in d ? `Today is ${d.today}; ask for that day` : `It is ${d.now}; ask for that time`} or an earlier one.`,
    { name: 'date', received: '2199-01-01', today: '2024-05-15' },
  ),
  invalid_range: entry(
    400,
    (d: { startDate: string; endDate: string }) =>
      `The startDate ${d.startDate} is after the endDate ${d.endDate}. Swap them.`,
    { startDate: '2024-05-02', endDate: '2024-05-01' },
  ),
  range_too_long: entry(
    400,
    (d: { days: number; maxDays: number; hasHistory: boolean }) =>
      `The range spans ${d.days} days and the limit is ${d.maxDays} days between startDate and endDate. ${d.hasHistory ? 'Use /rates/history for long ranges, or split' : 'Split'} the range into shorter ones. The operator can set another limit with "openpit plan set NAME --max-span-days DAYS".`,
    { days: 31, maxDays: 30, hasHistory: true },
  ),
  repeated_parameter: entry(
    400,
    (d: { name: string } | { header: string }) =>
      'header' in d
        ? `The header "${d.header}" was sent more than once, with different values. Send it once.`
        : `The parameter "${d.name}" was sent more than once. Send it once.`,
    { name: 'date' },
  ),
  invalid_body: entry(
    400,
    (d: { problems: readonly string[] }) => `The body is invalid: ${d.problems.join('; ')}.`,
    { problems: ['name must not be empty'] },
  ),
  invalid_as_of: entry(
    400,
    (d: { received: string }) =>
      `The parameter "asOf" must be a day that exists, as YYYY-MM-DD, or a time, as 2024-05-14T15:30:00Z, from 1900-01-01 to 2199-12-31 (received "${d.received}").`,
    { received: 'yesterday' },
  ),
  invalid_unit: entry(
    400,
    (d: { received: string; misfits: readonly { code: string; units: readonly string[] }[] }) =>
      `The unit "${d.received}" does not fit ${d.misfits.map(fitting).join('; ')}.`,
    { received: 'litre', misfits: [{ code: 'XAU', units: ['kg', 'T.oz'] }] },
  ),
  invalid_parameter: entry(
    400,
    (d: { name: string; received: string; expected: string } | UnknownParameter) =>
      'unknown' in d
        ? unknownParameter(d)
        : `The parameter "${d.name}" must be ${d.expected} (received "${d.received}").`,
    { name: 'moving', received: 'x', expected: 'a whole number from 2 to 500' },
  ),
  invalid_formula: entry(
    400,
    (d: { received: string; problem: string; advice?: string }) =>
      `"${d.received}" cannot be computed: ${d.problem}. ${d.advice ?? FORMULA_SYNTAX}`,
    { received: '{XAU}/0', problem: 'it divides by zero on 2024-05-14' },
  ),
  invalid_interval: entry(
    400,
    (d: { received: string; intervals: readonly string[] }) =>
      `The parameter "interval" must be one of ${d.intervals.join(', ')} (received "${d.received}").`,
    { received: 'decade', intervals: ['day', 'week', 'month', 'quarter', 'year'] },
  ),
  invalid_cursor: entry(
    400,
    () =>
      'The parameter "cursor" does not belong to this request. Send "next" of the previous response, with all other parameters unchanged.',
    {},
  ),
  invalid_format: entry(
    400,
    (d: { received: string; formats: readonly string[] }) =>
      `The parameter "format" must be one of ${d.formats.join(', ')} (received "${d.received}").`,
    { received: 'xml', formats: ['json', 'csv', 'ndjson', 'parquet'] },
  ),
  missing_key: entry(
    401,
    (d: { hasCursor: boolean; received: readonly string[] }) =>
      `No API key was sent${d.received.length > 0 ? `: what is in ${d.received.join(' and in ')} is not a key of this service` : ''}. Send it in the header "x-api-key" or as the parameter "apiKey".${d.hasCursor ? ' The URL of the next page never contains the key: append it.' : ''}`,
    { hasCursor: false, received: [] },
  ),
  invalid_key: entry(
    401,
    () => 'The API key is not valid: it is unknown, expired or revoked. Check it, or ask for a new one.',
    {},
  ),
  invalid_admin_token: entry(
    401,
    () =>
      'This needs the admin token. Send the header "Authorization: Bearer …" with the value of OPENPIT_ADMIN_TOKEN.',
    {},
  ),
  account_suspended: entry(
    403,
    () => 'The account of this API key is suspended. Ask the operator of this service.',
    {},
  ),
  key_not_allowed: entry(403, (d: { why: keyof typeof NOT_ALLOWED }) => NOT_ALLOWED[d.why], { why: 'url' }),
  history_not_in_plan: entry(
    403,
    (d: { plan: string }) =>
      `The plan "${d.plan}" has no long history. Use /rates/time-series, or ask the operator of this service.`,
    { plan: 'free' },
  ),
  not_found: entry(404, (d: { path: string; hint: string }) => `There is nothing at ${d.path}. ${d.hint}`, {
    path: '/latest',
    hint: 'Did you mean /rates/latest?',
  }),
  unknown_symbol: entry(
    404,
    (d: { unknown: readonly UnknownCode[] }) =>
      `Unknown symbol${d.unknown.length > 1 ? 's' : ''}: ${d.unknown.map(suggest).join('; ')}. GET /symbols lists all codes.${formulaHint(d.unknown)}`,
    { unknown: [{ code: 'XAUU', nearest: ['XAU'] }] },
  ),
  unknown_currency: entry(
    404,
    (d: UnknownCurrency) =>
      d.own === 'none'
        ? `${d.code} has no currency, so it cannot be converted to "${d.received}". Request it without quote.`
        : d.hasRates
          ? `${d.code} is quoted in ${d.own} and cannot be converted to "${d.received}". The currencies known for it are ${d.known.join(', ')}.`
          : `${d.code} is quoted in ${d.own} and cannot be converted to "${d.received}": the exchange rate feed is off or has not run yet. The operator can enable it with "openpit feed enable ecb". Without it, the currencies known for ${d.code} are ${d.known.join(', ')}.`,
    { received: 'XYZ', code: 'XAU', own: 'USD', known: ['EUR', 'USD'], hasRates: true },
  ),
  no_data: entry(
    404,
    (d: { missing: readonly NoData[]; date?: string; range?: string } | MissingRate) =>
      'rate' in d
        ? missingRate(d)
        : `No data${d.date ? ` on or shortly before ${d.date}` : ''}${d.range ? ` from ${d.range}` : ''} for ${d.missing.map(extentOf).join('; ')}.`,
    { date: '1890-01-01', missing: [{ code: 'XAU', firstDate: '2015-01-02' }] },
  ),
  invalid_file: entry(400, (d: { problem: string }) => `The file cannot be imported: ${d.problem}.`, {
    problem: '"03/04/2024" may be day/month or month/day; use dateOrder dmy or mdy',
  }),
  not_there: entry(
    404,
    (d: {
      what:
        | 'account'
        | 'key'
        | 'plan'
        | 'feed'
        | 'price in quarantine'
        | 'import'
        | 'backup'
        | 'symbol'
        | 'formula';
      id: string;
    }) => `There is no ${d.what} "${d.id}".`,
    { what: 'key', id: 'key_4fGh1Kq0ZsPw' },
  ),
  method_not_allowed: entry(
    405,
    (d: { method: string; allowed: string }) =>
      `The method ${d.method} is not allowed here. Use ${d.allowed}.`,
    { method: 'POST', allowed: 'GET, HEAD, OPTIONS' },
  ),
  conflict: entry(409, (d: { why: string }) => `This cannot be done now: ${d.why}.`, {
    why: 'it is the last active key of the account; create another first',
  }),
  already_charged: entry(
    409,
    () =>
      'A request with this X-Request-Id was charged, and its response was too long to be kept. It is not built again, because its prices have changed since, or are read from the ledger. Send another X-Request-Id to be charged again.',
    {},
  ),
  already_exists: entry(
    412,
    (d: { what: 'plan' | 'formula' | 'symbol'; id: string }) =>
      `There is already a ${d.what} "${d.id}". It was not replaced.`,
    { what: 'plan', id: 'basic' },
  ),
  body_too_large: entry(
    413,
    (d: { why: string }) => `The request is too large: ${d.why}. Send it in several parts.`,
    { why: 'the body is longer than 1048576 bytes' },
  ),
  invalid_visit: entry(
    400,
    () =>
      'The parameter "visit" must be the value of the header "Openpit-Visit" of a response of /market to the same account, at most an hour old.',
    {},
  ),
  uri_too_long: entry(
    414,
    (d: { length: number; max: number }) =>
      `The URL has ${d.length} characters and the limit is ${d.max}. Ask for fewer symbols at a time.`,
    { length: 9000, max: 8192 },
  ),
  invalid_byte_range: entry(
    416,
    (d: { length: number }) =>
      `The header "Range" requests bytes beyond the end of the file, which has ${d.length} bytes. Request fewer bytes, or omit the header.`,
    { length: 20480 },
    (d) => ({ length: d.length }),
  ),
  rate_limited: entry(
    429,
    ({
      limit,
      advice = 'Wait for the number of seconds in "Retry-After".',
    }: {
      limit: string;
      advice?: string;
    }) => `Too many requests: ${limit}. ${advice}`,
    { limit: 'the plan "free" allows 5 a second' },
  ),
  quota_exhausted: entry(
    429,
    (d: { quota: number; plan: string; resetAt: string; units: number }) =>
      d.units > 1
        ? `This response costs ${d.units} units, and fewer are left of the monthly quota of ${d.quota} of the plan "${d.plan}". The quota resets at ${d.resetAt}.`
        : `The monthly quota of ${d.quota} ${d.quota === 1 ? 'request' : 'requests'} of the plan "${d.plan}" is used up. The quota resets at ${d.resetAt}.`,
    { quota: 1000, plan: 'free', resetAt: '2024-06-01T00:00:00.000Z', units: 1 },
    (d) => ({ resetAt: Math.floor(Date.parse(d.resetAt) / 1000) }),
  ),
  internal: entry(
    500,
    (d: { requestId: string }) =>
      `An internal error occurred. Retry once; if it occurs again, report the request id ${d.requestId} to the operator; it is in the log.`,
    { requestId: '4f1c2a9b-7' },
  ),
  unavailable: entry(
    503,
    // An event has no headers.
    (d: { why: string } | { streamEnds: string }) =>
      'streamEnds' in d
        ? `The stream ends: ${d.streamEnds}. Connect again.`
        : `The service cannot answer now: ${d.why}. Retry after the number of seconds in "Retry-After".`,
    { why: 'it is starting' },
  ),
} as const;

/** Machine-readable details of an error, in addition to its code. */
export type ErrorMembers = Readonly<Record<string, number>>;

export interface ErrorEntry<D> {
  status: number;
  message: (details: D) => string;
  /** The message in the documentation. */
  example: () => string;
  members: ((details: D) => ErrorMembers) | undefined;
}

/** `example` has the details for the message in the documentation. */
function entry<D>(
  status: number,
  message: (details: D) => string,
  example: NoInfer<D>,
  members?: (details: NoInfer<D>) => ErrorMembers,
): ErrorEntry<D> {
  return { status, message, example: () => message(example), members };
}
