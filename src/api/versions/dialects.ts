import type { ErrorCode } from '../errors/errors.ts';

/**
 * The interface has three generations, and a client's base path shows which one it was written for. A dialect is what differs
 * between them. The edge reads it: parameters, the shape of some records, errors. Prices, quotas and caches do not know it.
 */
export interface Dialect {
  readonly name: DialectName;
  /** The maximum number of days between startDate and endDate of a time series, where the plan sets none. */
  readonly spanDaysMax: number;
  /** Whether each record of `/rates/historical` has `date`, the day it is from. */
  readonly datesRecords: boolean;
  /** Whether `/rates/latest` has `metadata` also as `metaData`. */
  readonly repeatsMetadata: boolean;
  /** Whether unknown symbols among known ones are listed in `unresolved` of a 206, instead of a 404. */
  readonly answersPartially: boolean;
  /** Whether errors also have `error`, `path` and `timestamp`, those of `/usage` included. */
  readonly detailsErrors: boolean;
}

export type DialectName = 'v1' | 'v2' | 'v3';

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  v1: {
    name: 'v1',
    spanDaysMax: 30,
    datesRecords: false,
    repeatsMetadata: false,
    answersPartially: false,
    detailsErrors: false,
  },
  v2: {
    name: 'v2',
    spanDaysMax: 365,
    datesRecords: true,
    repeatsMetadata: true,
    answersPartially: false,
    detailsErrors: true,
  },
  v3: {
    name: 'v3',
    spanDaysMax: 365,
    datesRecords: true,
    repeatsMetadata: true,
    answersPartially: true,
    detailsErrors: true,
  },
};

/** The codes of errors in the later generations. */
export const FAMILY_CODES = [
  'VALIDATION_ERROR',
  'API_KEY_NOT_FOUND',
  'SYMBOL_NOT_FOUND',
  'DATA_NOT_FOUND',
  'QUOTE_NOT_FOUND',
  'LIMIT_REACHED',
  'TOO_MANY_REQUESTS',
  'SERVER_ERROR',
] as const;

export type FamilyCode = (typeof FAMILY_CODES)[number];

/** Which of these codes each of our errors has. Codes that are not listed are errors in the request. */
const FAMILY_CODE_OF: Readonly<Partial<Record<ErrorCode, FamilyCode>>> = {
  missing_key: 'API_KEY_NOT_FOUND',
  invalid_key: 'API_KEY_NOT_FOUND',
  invalid_admin_token: 'API_KEY_NOT_FOUND',
  account_suspended: 'API_KEY_NOT_FOUND',
  key_not_allowed: 'API_KEY_NOT_FOUND',
  unknown_symbol: 'SYMBOL_NOT_FOUND',
  no_data: 'DATA_NOT_FOUND',
  not_found: 'DATA_NOT_FOUND',
  not_there: 'DATA_NOT_FOUND',
  unknown_currency: 'QUOTE_NOT_FOUND',
  history_not_in_plan: 'LIMIT_REACHED',
  quota_exhausted: 'LIMIT_REACHED',
  rate_limited: 'TOO_MANY_REQUESTS',
  internal: 'SERVER_ERROR',
  unavailable: 'SERVER_ERROR',
};

export function familyCodeOf(code: ErrorCode): FamilyCode {
  return FAMILY_CODE_OF[code] ?? 'VALIDATION_ERROR';
}
