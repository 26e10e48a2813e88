import type { Customer } from '../../gate/directory/customer.ts';
import { redactKeys } from '../../gate/key.ts';
import { VISITOR_UNITS_MAX, VISITOR_UNITS_PER_MINUTE } from '../../gate/visitors.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { RateLimit } from './request-lines.ts';

/** Headers of every response of the interface. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'ETag, Link, Openpit-Visit, Openpit-Warnings, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, WWW-Authenticate, Content-Length, Content-Range, Accept-Ranges',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  Vary: 'x-api-key, Accept, Accept-Encoding',
};

/** Keeps the head of a response small. */
const WARNINGS_LENGTH_MAX = 1_000;

/** The warnings of a table, which has no member for them. */
export function warningHeaders(warnings: readonly string[]): Readonly<Record<string, string>> {
  if (warnings.length === 0) return {};
  return { 'Openpit-Warnings': redactKeys(warnings.join(' ')).slice(0, WARNINGS_LENGTH_MAX) };
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A month as the draft's window: 30 days in seconds. */
const MONTH_SECONDS = 2_592_000;

/** The header `RateLimit-Policy`: what a customer or a visitor to the page may use, as in the IETF draft. */
export function policyOf({ plan, visitors }: Customer): string {
  return visitors ? visitorPolicy(plan) : planPolicy(plan);
}

/** What the plan allows its customers. */
export function planPolicy({ quota, burstPerSecond }: Plan): string {
  return `"month";q=${quota};w=${MONTH_SECONDS}, "burst";q=${burstPerSecond};w=1`;
}

/** The limits of a visitor to the page: a bucket of units, and the seconds in which an empty one fills. */
export function visitorPolicy({ burstPerSecond }: Plan): string {
  const fillSeconds = (VISITOR_UNITS_MAX * 60) / VISITOR_UNITS_PER_MINUTE;
  return `"address";q=${VISITOR_UNITS_MAX};w=${fillSeconds}, "burst";q=${burstPerSecond};w=1`;
}

/** What is left to a visitor, and the seconds until all of it is back. */
export function visitorRateLimit(remaining: number): RateLimit {
  const fillSeconds = Math.ceil(((VISITOR_UNITS_MAX - remaining) * 60) / VISITOR_UNITS_PER_MINUTE);
  return { policy: 'address', remaining, resetSeconds: fillSeconds };
}

const READING = ['GET', 'HEAD', 'OPTIONS'] as const;

/** The methods of an endpoint; most are read-only. */
export function allowedMethods(endpoint: Endpoint | undefined): readonly string[] {
  if (endpoint?.kind === 'mcp') return ['POST', 'OPTIONS'];
  if (!endpoint || !('actions' in endpoint)) return READING;
  const { GET, ...changes } = endpoint.actions;
  return [...(GET ? ['GET', 'HEAD'] : []), ...Object.keys(changes), 'OPTIONS'];
}

const ALL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/**
 * The response to a CORS preflight; browsers may cache it for a day. Any header is allowed, so that a page can read what is
 * wrong with its request. The wildcard does not cover `Authorization`, and older browsers do not know it.
 */
const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON_HEADERS,
  'Access-Control-Allow-Headers':
    'x-api-key, Authorization, Content-Type, Accept, Cache-Control, If-None-Match, Range, If-Range, X-Requested-With, Last-Event-ID, X-Request-Id, traceparent, *',
  'Access-Control-Max-Age': '86400',
};

/**
 * OPTIONS of a path. Pages of other sites may read but not change anything. Where nothing can be changed, or nothing exists,
 * every method is allowed, so that the page can read the error.
 */
export function optionsHeaders(endpoint: Endpoint | undefined): Readonly<Record<string, string>> {
  const canChange = endpoint !== undefined && 'actions' in endpoint;
  return {
    ...PREFLIGHT_HEADERS,
    'Access-Control-Allow-Methods': canChange ? READING.join(', ') : ALL_METHODS,
    Allow: allowedMethods(endpoint).join(', '),
  };
}

/** `OPTIONS *` is about the whole server (RFC 9110, 9.3.7): every method that any path accepts. */
export const SERVER_OPTIONS: Readonly<Record<string, string>> = { ...COMMON_HEADERS, Allow: ALL_METHODS };
