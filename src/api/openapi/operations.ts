import type { ErrorCode } from '../errors/errors.ts';
import { NEW_KEY, ROTATION } from '../keys/key-bodies.ts';
import type { Operation } from './operation.ts';
import { OPERATOR_OPERATIONS } from './operator-operations.ts';
import type { ParameterName } from './parameters.ts';

const SYMBOL_ERRORS: readonly ErrorCode[] = [
  'missing_parameter',
  'invalid_symbols',
  'too_many_symbols',
  'repeated_parameter',
  'unknown_symbol',
  'no_data',
];
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
    parameters: ['format'],
    answer: 'Symbols',
    errors: ['invalid_format'],
  },
  {
    path: '/rates/latest',
    method: 'GET',
    tag: 'Rates',
    summary: 'The newest price of each symbol, as of the plan’s delay',
    parameters: ['symbols', 'metadata', ...CONVERSION],
    answer: 'Latest',
    errors: [...SYMBOL_ERRORS, ...CONVERSION_ERRORS],
  },
  {
    path: '/rates/historical',
    method: 'GET',
    tag: 'Rates',
    summary: 'Open, high, low and close of one day',
    parameters: ['symbols', 'date', 'metadata', ...CONVERSION, 'asOf'],
    answer: 'Historical',
    errors: [...SYMBOL_ERRORS, ...DATE_ERRORS, ...CONVERSION_ERRORS, 'invalid_as_of'],
  },
  {
    path: '/rates/time-series',
    method: 'GET',
    tag: 'Rates',
    summary: 'Open, high, low and close of every day of a range',
    description:
      'The plan may limit the number of days between the two dates. Without a limit of the plan it is 30 days, and 365 under /v2 and /v3.',
    parameters: [...RANGE, 'asOf'],
    answer: 'TimeSeries',
    errors: [...SYMBOL_ERRORS, ...RANGE_ERRORS, 'range_too_long', ...CONVERSION_ERRORS, 'invalid_as_of'],
  },
  {
    path: '/rates/fluctuation',
    method: 'GET',
    tag: 'Rates',
    summary: 'The change between two days',
    parameters: [...RANGE, 'asOf'],
    answer: 'Fluctuation',
    errors: [...SYMBOL_ERRORS, ...RANGE_ERRORS, ...CONVERSION_ERRORS, 'invalid_as_of'],
  },
  {
    path: '/rates/history',
    method: 'GET',
    tag: 'Rates',
    summary: 'Prices by day, week, month, quarter or year over any range',
    description:
      'JSON is paginated: each page of 2,000 rows costs one unit. CSV and NDJSON contain all rows and cost one unit per started 2,000 rows, charged before the first byte. The URL of the next page in `Link` does not contain the key: send the key in the header, or append `&apiKey=`.',
    parameters: [...RANGE, 'interval', 'transform', 'period', 'moving', 'layout', 'field', 'cursor'],
    answer: 'History',
    errors: [
      ...SYMBOL_ERRORS,
      ...RANGE_ERRORS,
      ...CONVERSION_ERRORS,
      'invalid_interval',
      'invalid_parameter',
      'invalid_cursor',
      'history_not_in_plan',
    ],
  },
  {
    path: '/rates/statistics',
    method: 'GET',
    tag: 'Rates',
    summary: 'Statistics of the closes of a range, and the correlations of the symbols',
    description: 'For at most 20 symbols. It costs one unit, whatever the range.',
    parameters: [...RANGE, 'asOf'],
    answer: 'Statistics',
    errors: [...SYMBOL_ERRORS, ...RANGE_ERRORS, ...CONVERSION_ERRORS, 'invalid_as_of', 'range_too_long'],
  },
  {
    path: '/rates/revisions',
    method: 'GET',
    tag: 'Rates',
    summary: 'All versions of one day, oldest first, or of each day of a range that has more than one',
    description:
      'Send either `date`, or `startDate` and `endDate`. For a range, JSON is paginated with at most 2,000 versions per page, and CSV and NDJSON contain all of them. A request costs at least one unit whatever its result; CSV and NDJSON cost one unit per started 2,000 rows.',
    parameters: ['symbols', 'versionsOf', 'revisedFrom', 'revisedTo', 'cursor', 'metadata', 'format'],
    answer: 'Revisions',
    errors: [...SYMBOL_ERRORS, ...RANGE_ERRORS, 'range_too_long', 'invalid_cursor', 'invalid_format'],
  },
  {
    path: '/rates/stream',
    method: 'GET',
    tag: 'Rates',
    summary: 'The newest price of each symbol, now and whenever it changes',
    description:
      'Server-sent events: `event: rate` with the data below, and `event: end` with a code and a message when the key is revoked, the quota is exhausted or the service stops. Opening the stream costs one unit, which includes the first 100 events; each further 100 events cost one unit.',
    parameters: ['symbols', 'lastEventId'],
    answer: 'StreamRate',
    errors: SYMBOL_ERRORS,
  },
  {
    path: '/usage',
    method: 'GET',
    tag: 'Account',
    summary: 'Plan, quota and usage of the current month, over all replicas',
    description: 'Free. Errors have their message in `error`.',
    answer: 'Usage',
  },
  {
    path: '/usage/daily',
    method: 'GET',
    tag: 'Account',
    summary: 'Usage of the last 31 days by day and endpoint, and the quota thresholds that were reached',
    answer: 'UsageDaily',
  },
  {
    path: '/account',
    method: 'GET',
    tag: 'Account',
    summary: 'The account, its plan, and the restrictions of the key in use',
    answer: 'Account',
  },
  {
    path: '/account/keys',
    method: 'GET',
    tag: 'Account',
    summary: 'The keys of the account, without their secrets',
    answer: 'Keys',
  },
  {
    path: '/account/keys',
    method: 'POST',
    tag: 'Account',
    summary: 'Create a key',
    description: 'The new key inherits the restrictions of the key that creates it.',
    body: NEW_KEY,
    answer: 'IssuedKey',
    errors: ['invalid_body', 'conflict'],
  },
  {
    path: '/account/keys/{id}',
    method: 'DELETE',
    tag: 'Account',
    summary: 'Revoke a key, unless it is the last active one',
    parameters: ['id'],
    answer: 'RevokedKey',
    errors: ['not_there', 'conflict'],
  },
  {
    path: '/account/keys/{id}/rotate',
    method: 'POST',
    tag: 'Account',
    summary: 'Replace a key by one with the same restrictions; the old key works until the overlap ends',
    parameters: ['id'],
    body: ROTATION,
    answer: 'IssuedKey',
    errors: ['invalid_body', 'not_there', 'conflict'],
  },
  ...OPERATOR_OPERATIONS,
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
    summary: 'The units that each symbol can be converted to, and their factors',
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
