import { expect, test } from 'bun:test';
import { ERROR_STATUSES } from '../../../src/api/errors/errors.ts';

/** The promise to programs that read `code`: a code never changes its meaning or its status. */
const PROMISED: Record<number, string[]> = {
  400: [
    'missing_parameter',
    'invalid_symbols',
    'too_many_symbols',
    'invalid_date',
    'date_in_future',
    'invalid_range',
    'range_too_long',
    'repeated_parameter',
    'invalid_body',
    'invalid_as_of',
    'invalid_unit',
    'invalid_parameter',
    'invalid_formula',
    'invalid_interval',
    'invalid_cursor',
    'invalid_format',
    'invalid_file',
    'invalid_visit',
  ],
  401: ['missing_key', 'invalid_key', 'invalid_admin_token'],
  403: ['account_suspended', 'key_not_allowed', 'history_not_in_plan'],
  404: ['not_found', 'unknown_symbol', 'unknown_currency', 'no_data', 'not_there'],
  405: ['method_not_allowed'],
  409: ['conflict', 'already_charged'],
  412: ['already_exists'],
  413: ['body_too_large'],
  414: ['uri_too_long'],
  416: ['invalid_byte_range'],
  429: ['rate_limited', 'quota_exhausted'],
  500: ['internal'],
  503: ['unavailable'],
};

test('the error table has every promised code under its status, and no other', () => {
  const table = Object.groupBy(ERROR_STATUSES, ({ status }) => status);
  const codes = Object.entries(table).map(([status, all]) => [status, all!.map(({ code }) => code)]);
  expect(Object.fromEntries(codes)).toEqual(PROMISED);
});
