import type { ErrorCode } from '../errors/errors.ts';
import { ACCOUNT_OPERATIONS } from './account-operations.ts';
import type { Operation } from './operation.ts';
import { OPERATOR_OPERATIONS } from './operator-operations.ts';
import { OPERATOR_TOOLS } from './operator-tools.ts';
import type { ParameterName } from './parameters.ts';

const SYMBOL_ERRORS: readonly ErrorCode[] = [
  'invalid_formula',
  'missing_parameter',
  'invalid_symbols',
  'too_many_symbols',
  'unknown_symbol',
  'no_data',
];
/** The market view takes any number of symbols, and has a row for one without prices. */
const MARKET_ERRORS: readonly ErrorCode[] = ['invalid_formula', 'invalid_symbols', 'unknown_symbol'];
const DATE_ERRORS: readonly ErrorCode[] = ['invalid_date', 'date_in_future'];
const RANGE_ERRORS: readonly ErrorCode[] = [...DATE_ERRORS, 'invalid_range'];

const CONVERSION: readonly ParameterName[] = ['quote', 'unit', 'format'];
const CONVERSION_ERRORS: readonly ErrorCode[] = ['unknown_currency', 'invalid_unit', 'invalid_format'];
const RANGE: readonly ParameterName[] = ['symbols', 'startDate', 'endDate', 'metadata', ...CONVERSION];

export const OPERATIONS: readonly Operation[] = [
  {
    path: '/symbols',
    method: 'GET',
    tag: 'Rates',
    summary: 'All symbols, sorted by code',
    parameters: ['format', 'dryRun'],
    answer: 'Symbols',
    errors: ['invalid_format', 'invalid_parameter'],
  },
  {
    path: '/rates/latest',
    method: 'GET',
    tag: 'Rates',
    summary: 'The newest price of each symbol, as of the plan’s delay',
    parameters: ['symbols', 'metadata', ...CONVERSION, 'dryRun'],
    answer: 'Latest',
    errors: [...SYMBOL_ERRORS, ...CONVERSION_ERRORS, 'invalid_parameter'],
  },
  {
    path: '/rates/historical',
    method: 'GET',
    tag: 'Rates',
    summary: 'Open, high, low and close of one day',
    parameters: ['symbols', 'date', 'metadata', ...CONVERSION, 'asOf', 'dryRun'],
    answer: 'Historical',
    errors: [...SYMBOL_ERRORS, ...DATE_ERRORS, ...CONVERSION_ERRORS, 'invalid_as_of', 'invalid_parameter'],
  },
  {
    path: '/rates/time-series',
    method: 'GET',
    tag: 'Rates',
    summary: 'Open, high, low and close of every day of a range',
    description:
      'The plan may limit the number of days between the two dates. Without a limit of the plan it is 30 days, and 365 in v2 and v3.',
    parameters: [...RANGE, 'asOf', 'dryRun'],
    answer: 'TimeSeries',
    errors: [
      ...SYMBOL_ERRORS,
      ...RANGE_ERRORS,
      'range_too_long',
      ...CONVERSION_ERRORS,
      'invalid_as_of',
      'invalid_parameter',
    ],
  },
  {
    path: '/rates/fluctuation',
    method: 'GET',
    tag: 'Rates',
    summary: 'The change between two days',
    parameters: [...RANGE, 'asOf', 'dryRun'],
    answer: 'Fluctuation',
    errors: [...SYMBOL_ERRORS, ...RANGE_ERRORS, ...CONVERSION_ERRORS, 'invalid_as_of', 'invalid_parameter'],
  },
  {
    path: '/rates/history',
    method: 'GET',
    tag: 'Rates',
    summary: 'Prices by minute, 5 or 15 minutes, hour, day, week, month, quarter or year over any range',
    description:
      'JSON is paginated: each page of 2,000 rows costs one unit. CSV and NDJSON contain all rows and cost one unit per started 2,000 rows, charged before the first byte. The URL of the next page in `Link` does not contain the key: send the key in the header, or append `&apiKey=`. Intervals shorter than a day are read from the ledger and cost at least one unit, whatever the result. Minutes are kept for a time that the operator sets, hours without limit.',
    parameters: [
      'symbols',
      'historyFrom',
      'historyTo',
      'metadata',
      ...CONVERSION,
      'interval',
      'transform',
      'period',
      'moving',
      'layout',
      'field',
      'cursor',
      'asOf',
      'dryRun',
    ],
    answer: 'History',
    errors: [
      ...SYMBOL_ERRORS,
      ...RANGE_ERRORS,
      ...CONVERSION_ERRORS,
      'invalid_interval',
      'invalid_parameter',
      'invalid_cursor',
      'invalid_as_of',
      'history_not_in_plan',
    ],
  },
  {
    path: '/rates/statistics',
    method: 'GET',
    tag: 'Rates',
    summary: 'Statistics of the closes of a range, and the correlations of the symbols',
    description: 'For at most 20 symbols. It costs one unit, whatever the range.',
    parameters: [...RANGE, 'asOf', 'dryRun'],
    answer: 'Statistics',
    errors: [
      ...SYMBOL_ERRORS,
      ...RANGE_ERRORS,
      ...CONVERSION_ERRORS,
      'invalid_as_of',
      'range_too_long',
      'invalid_parameter',
    ],
  },
  {
    path: '/rates/revisions',
    method: 'GET',
    tag: 'Rates',
    summary: 'All versions of one day, oldest first, or of each day of a range that has more than one',
    description:
      'Send either `date`, or `startDate` and `endDate`. For a range, JSON is paginated with at most 2,000 versions per page, and CSV and NDJSON contain all of them. A request costs at least one unit whatever its result; CSV and NDJSON cost one unit per started 2,000 rows.',
    parameters: [
      'symbols',
      'versionsOf',
      'revisedFrom',
      'revisedTo',
      'cursor',
      'metadata',
      'format',
      'dryRun',
    ],
    answer: 'Revisions',
    errors: [
      ...SYMBOL_ERRORS,
      ...RANGE_ERRORS,
      'range_too_long',
      'invalid_cursor',
      'invalid_format',
      'invalid_parameter',
    ],
  },
  {
    path: '/rates/stream',
    method: 'GET',
    tag: 'Rates',
    summary: 'The newest price of each symbol, now and whenever it changes',
    description:
      'Server-sent events: `event: rate` with the data below, and `event: end` with a code and a message when the key is revoked, the quota is exhausted or cannot be checked, the delay of the plan changes or the service stops. Opening the stream costs one unit, which includes the first 100 events; each further 100 events cost one unit.',
    parameters: ['symbols', 'lastEventId', 'dryRun'],
    answer: 'StreamRate',
    errors: [...SYMBOL_ERRORS, 'invalid_parameter'],
  },
  {
    path: '/market',
    method: 'GET',
    tag: 'Rates',
    summary: 'All symbols with their newest prices and recent closes, in one response',
    description:
      'Costs one unit, whatever the plan’s limit of symbols. The response is shared by all customers with the same delay and at most 5 seconds old. Its header `Openpit-Visit` is a proof of payment: with it in the parameter `visit`, `/market` and `/market/quotes` are free for an hour.',
    parameters: ['someSymbols', 'paidVisit', 'closes', 'dryRun'],
    answer: 'Market',
    errors: [...MARKET_ERRORS, 'invalid_parameter'],
  },
  {
    path: '/market/quotes',
    method: 'GET',
    tag: 'Rates',
    summary: 'The newest prices of all symbols, free for an hour after /market',
    parameters: ['someSymbols', 'visit', 'dryRun'],
    answer: 'MarketQuotes',
    errors: [...MARKET_ERRORS, 'missing_parameter', 'invalid_parameter', 'invalid_visit'],
  },
  ...ACCOUNT_OPERATIONS,
  ...OPERATOR_OPERATIONS,
  ...OPERATOR_TOOLS,
  {
    path: '/feeds',
    method: 'GET',
    tag: 'Account',
    summary: 'Where prices come from, how fresh they are, and the attribution they require',
    description: 'Free.',
    answer: 'Feeds',
  },
  {
    path: '/units',
    method: 'GET',
    tag: 'Account',
    summary: 'The units that each symbol can be converted to, their factors, and the currencies',
    description: 'Free.',
    parameters: ['symbols'],
    answer: 'Units',
    errors: SYMBOL_ERRORS.filter((code) => code !== 'no_data'),
  },
  {
    path: '/health',
    method: 'GET',
    tag: 'Service',
    summary: 'Readiness: whether requests are answered',
    description:
      '503 with the same body while the service is starting or draining, or the ledger is unreachable or damaged. The same as `/health/ready`.',
    answer: 'Health',
  },
  {
    path: '/health/ready',
    method: 'GET',
    tag: 'Service',
    summary: 'Readiness: the same as `/health`',
    answer: 'Health',
  },
  {
    path: '/health/live',
    method: 'GET',
    tag: 'Service',
    summary: 'Liveness: 200 as long as the process responds, with or without its ledger',
    answer: 'Live',
  },
];
