import type { ErrorCode } from '../errors/errors.ts';
import { NEW_KEY, ROTATION } from '../keys/key-bodies.ts';
import type { Operation } from './operation.ts';
import { OPERATOR_OPERATIONS } from './operator-operations.ts';
import type { ParameterName } from './parameters.ts';

const OF_SYMBOLS: readonly ErrorCode[] = [
  'missing_parameter',
  'invalid_symbols',
  'too_many_symbols',
  'repeated_parameter',
  'unknown_symbol',
  'no_data',
];
const OF_DATES: readonly ErrorCode[] = ['invalid_date', 'date_in_future'];
const OF_RANGES: readonly ErrorCode[] = [...OF_DATES, 'invalid_range'];

const CONVERTED: readonly ParameterName[] = ['quote', 'unit', 'format'];
const OF_CONVERSION: readonly ErrorCode[] = ['unknown_currency', 'invalid_unit', 'invalid_format'];
const RANGE: readonly ParameterName[] = ['symbols', 'startDate', 'endDate', 'metadata', ...CONVERTED];

export const OPERATIONS: readonly Operation[] = [
  {
    path: '/symbols',
    method: 'GET',
    tag: 'Rates',
    summary: 'Every symbol, sorted by code',
    parameters: ['format'],
    answer: 'Symbols',
    errors: ['invalid_format'],
  },
  {
    path: '/rates/latest',
    method: 'GET',
    tag: 'Rates',
    summary: 'The newest price of each symbol that the plan may see',
    parameters: ['symbols', 'metadata', ...CONVERTED],
    answer: 'Latest',
    errors: [...OF_SYMBOLS, ...OF_CONVERSION],
  },
  {
    path: '/rates/historical',
    method: 'GET',
    tag: 'Rates',
    summary: 'Open, high, low and close of one day',
    parameters: ['symbols', 'date', 'metadata', ...CONVERTED, 'asOf'],
    answer: 'Historical',
    errors: [...OF_SYMBOLS, ...OF_DATES, ...OF_CONVERSION, 'invalid_as_of'],
  },
  {
    path: '/rates/time-series',
    method: 'GET',
    tag: 'Rates',
    summary: 'Open, high, low and close of every day of a range',
    description: 'At most as many days between the two as the plan allows, 30 unless it says otherwise.',
    parameters: [...RANGE, 'asOf'],
    answer: 'TimeSeries',
    errors: [...OF_SYMBOLS, ...OF_RANGES, 'range_too_long', ...OF_CONVERSION, 'invalid_as_of'],
  },
  {
    path: '/rates/fluctuation',
    method: 'GET',
    tag: 'Rates',
    summary: 'The change between two days',
    parameters: [...RANGE, 'asOf'],
    answer: 'Fluctuation',
    errors: [...OF_SYMBOLS, ...OF_RANGES, ...OF_CONVERSION, 'invalid_as_of'],
  },
  {
    path: '/rates/history',
    method: 'GET',
    tag: 'Rates',
    summary: 'Prices by day, week, month, quarter or year over any span',
    description:
      'JSON comes in pages of 2,000 rows, one unit each. CSV and NDJSON are complete, and cost one unit for each started 2,000 rows, taken before the first byte. `Link` names the next page without the key: send the key in the header, or append `&apiKey=`.',
    parameters: [...RANGE, 'interval', 'cursor'],
    answer: 'History',
    errors: [
      ...OF_SYMBOLS,
      ...OF_RANGES,
      ...OF_CONVERSION,
      'invalid_interval',
      'invalid_cursor',
      'history_not_in_plan',
    ],
  },
  {
    path: '/rates/revisions',
    method: 'GET',
    tag: 'Rates',
    summary: 'Every version of one day, the oldest first; or of the days of a range that have more than one',
    description:
      'By `date`, or by `startDate` and `endDate`: then JSON has at most 2,000 versions an answer, with a cursor to the next, and CSV and NDJSON have all of them. A request costs at least one unit however it ends, and a table one for each started 2,000 rows.',
    parameters: ['symbols', 'versionsOf', 'revisedFrom', 'revisedTo', 'cursor', 'metadata', 'format'],
    answer: 'Revisions',
    errors: [...OF_SYMBOLS, ...OF_RANGES, 'range_too_long', 'invalid_cursor', 'invalid_format'],
  },
  {
    path: '/rates/stream',
    method: 'GET',
    tag: 'Rates',
    summary: 'The newest price of each symbol, now and whenever it changes',
    description:
      'Server-sent events: `event: rate` with the data below, and `event: end` with a code and a message when the key is revoked, the quota is used up or the service stops. A connection costs one unit, which pays for 100 events; so does each hundred after them.',
    parameters: ['symbols', 'lastEventId'],
    answer: 'StreamRate',
    errors: OF_SYMBOLS,
  },
  {
    path: '/usage',
    method: 'GET',
    tag: 'Account',
    summary: 'Plan, quota and use of this month, over all replicas',
    description: 'Free. Its errors carry their text in `error`.',
    answer: 'Usage',
  },
  {
    path: '/usage/daily',
    method: 'GET',
    tag: 'Account',
    summary: 'Use by day and endpoint of the last 31 days, and the shares of the quota that were reached',
    answer: 'UsageDaily',
  },
  {
    path: '/account',
    method: 'GET',
    tag: 'Account',
    summary: 'Whose key it is, its plan, and its rules',
    answer: 'Account',
  },
  {
    path: '/account/keys',
    method: 'GET',
    tag: 'Account',
    summary: 'The keys of the account; never their text',
    answer: 'Keys',
  },
  {
    path: '/account/keys',
    method: 'POST',
    tag: 'Account',
    summary: 'Create a key',
    description: 'Rules of the key that asks hold for the new one too.',
    body: NEW_KEY,
    answer: 'IssuedKey',
    errors: ['invalid_body', 'conflict'],
  },
  {
    path: '/account/keys/{id}',
    method: 'DELETE',
    tag: 'Account',
    summary: 'Revoke a key; the last active one stays',
    parameters: ['id'],
    answer: 'RevokedKey',
    errors: ['not_there', 'conflict'],
  },
  {
    path: '/account/keys/{id}/rotate',
    method: 'POST',
    tag: 'Account',
    summary: 'Create a key with the same rules; the old one works until the overlap is over',
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
    summary: 'Where prices come from, how fresh they are, and what must be said of them',
    description: 'Free.',
    answer: 'Feeds',
  },
  {
    path: '/units',
    method: 'GET',
    tag: 'Account',
    summary: 'The units that prices of these symbols can be asked for in, and their factors',
    description: 'Free.',
    parameters: ['symbols'],
    answer: 'Units',
    errors: OF_SYMBOLS.filter((code) => code !== 'no_data'),
  },
  {
    path: '/health',
    method: 'GET',
    tag: 'Service',
    summary: 'Whether requests are answered',
    description:
      '503 with the same body while they are not: starting, draining, or the ledger cannot be reached or is damaged. `/health/ready` is the same.',
    answer: 'Health',
  },
  {
    path: '/health/ready',
    method: 'GET',
    tag: 'Service',
    summary: 'The same as `/health`',
    answer: 'Health',
  },
  {
    path: '/health/live',
    method: 'GET',
    tag: 'Service',
    summary: 'Whether the process is alive: 200 as long as it answers, with or without its ledger',
    answer: 'Live',
  },
];
