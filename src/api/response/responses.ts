import type { Customer } from '../../gate/directory/customer.ts';
import { redactKeys } from '../../gate/key.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { type Reply, reply } from '../../http/message/reply.ts';
import type { Refusal } from '../errors/errors.ts';
import { CACHE_CONTROL } from '../model/answer.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { SharedBody } from '../model/shared-body.ts';
import { type Dialect, familyCodeOf } from '../versions/dialects.ts';
import { etagOfEncoding, etagOfMatch, matches } from './etag.ts';
import { acceptsGzip, gzip, PLAIN_BYTES_MAX } from './gzip.ts';
import { allowedMethods, COMMON_HEADERS, JSON_TYPE, policyOf } from './headers.ts';
import type { RemainingQuota } from './remaining-quota.ts';
import { rateLimitText } from './request-lines.ts';

/** What a response needs to know about its request. */
export interface ResponseContext {
  request: IncomingRequest;
  peer: () => string;
  requestId: string;
  /** Set once the request is authenticated; the response then carries the rate limits. */
  customer: Customer | undefined;
  dialect: Dialect;
  target: { path: string };
  /** In ms. */
  now: number;
}

/** Builds JSON responses, refusals and streams. */
export class Responses {
  readonly #remainingQuota: RemainingQuota;

  constructor(remainingQuota: RemainingQuota) {
    this.#remainingQuota = remainingQuota;
  }

  /** For customers, about their own account. */
  account(to: ResponseContext, body: Readonly<Record<string, unknown>>): Reply {
    return jsonResponse(JSON.stringify(body), 200, to, this.#headers(to));
  }

  /** For the operator. Scripts of other sites cannot read it: it has no CORS header. */
  admin(to: ResponseContext, body: Readonly<Record<string, unknown>>): Reply {
    const { 'Access-Control-Allow-Origin': _, ...headers } = this.#headers(to);
    return jsonResponse(JSON.stringify(body), 200, to, headers);
  }

  /**
   * A 304 or the headers alone; undefined if the request needs the body. Both are free, so they must not reveal its length
   * (docs/decisions/0003).
   */
  withoutBody(to: ResponseContext, body: SharedBody): Reply | undefined {
    const { etag } = body;
    const ifNoneMatch = to.request.headers.get('if-none-match');
    if (ifNoneMatch !== null && matches(ifNoneMatch, etag)) {
      return reply(null, this.#sharedHeaders(to, etagOfMatch(ifNoneMatch, etag)), 304);
    }
    if (to.request.method !== 'HEAD') return undefined;
    return reply(new ReadableStream(), this.#sharedHeaders(to, etag));
  }

  /** A body that many customers receive, with headers of the customer's own. */
  shared(to: ResponseContext, body: SharedBody, more: Readonly<Record<string, string>> = {}): Reply {
    const { plain, gzipped, etag } = body;
    if (!acceptsGzip(to.request.headers.get('accept-encoding'))) {
      return reply(plain, { ...this.#sharedHeaders(to, etag), ...more });
    }
    const headers = this.#sharedHeaders(to, etagOfEncoding(etag, 'gzip'));
    return reply(gzipped, { ...headers, ...more, 'Content-Encoding': 'gzip' });
  }

  /** Server-sent events. Proxies must not buffer them. */
  stream(to: ResponseContext, body: ReadableStream<Uint8Array>): Reply {
    const type = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };
    return { ...reply(body, { ...this.#headers(to), ...type }), isEndless: true };
  }

  refusal(to: ResponseContext, refusal: Refusal, endpoint: Endpoint | undefined): Reply {
    const { code, status, members, retryAfterSeconds } = refusal;
    const body = errorBody(to, refusal, endpoint);
    const headers = this.#headers(to);
    if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
    if (status === 401) headers['WWW-Authenticate'] = challengeOf(code);
    if (status === 414) headers.Connection = 'close'; // no client of ours sends such a URL
    if (code === 'invalid_byte_range' && members?.length)
      headers['Content-Range'] = `bytes */${members.length}`;
    if (status === 405) headers.Allow = allowedMethods(endpoint).join(', ');
    return jsonResponse(JSON.stringify(body), status, to, headers);
  }

  #sharedHeaders(to: ResponseContext, etag: string): Record<string, string> {
    return { ...this.#headers(to), 'Cache-Control': CACHE_CONTROL.open, ETag: etag };
  }

  #headers(to: ResponseContext): Record<string, string> {
    const { requestId, customer } = to;
    const headers: Record<string, string> = {
      ...COMMON_HEADERS,
      'X-Request-Id': requestId,
      'Content-Type': JSON_TYPE,
      'Cache-Control': 'no-store',
    };
    if (customer) {
      headers['RateLimit-Policy'] = policyOf(customer);
      const left = this.#remainingQuota.of(to);
      if (left !== undefined) headers.RateLimit = rateLimitText(left);
    }
    return headers;
  }
}

/** Account endpoints have their message in `error` and no other field, unless the dialect has a code there. */
function errorBody(to: ResponseContext, refusal: Refusal, endpoint: Endpoint | undefined): object {
  const { code, status, members } = refusal;
  const message = redactKeys(refusal.message);
  if (endpoint?.kind === 'account' && !to.dialect.detailsErrors) return { success: false, error: message };
  const envelope = { success: false, message, statusCode: String(status), code, ...members };
  if (!to.dialect.detailsErrors) return envelope;
  const path = redactKeys(to.target.path.slice(0, PATH_LENGTH_MAX));
  return { ...envelope, error: familyCodeOf(code), path, timestamp: Math.floor(to.now / 1000) };
}

/** How many characters of the path an error repeats. */
const PATH_LENGTH_MAX = 100;

function jsonResponse(
  body: string,
  status: number,
  to: ResponseContext,
  headers: Record<string, string>,
): Reply {
  const isLong = body.length > PLAIN_BYTES_MAX;
  if (!isLong || !acceptsGzip(to.request.headers.get('accept-encoding'))) {
    return reply(body, headers, status);
  }
  headers['Content-Encoding'] = 'gzip';
  return reply(gzip(body), headers, status);
}

function challengeOf(code: Refusal['code']): string {
  return code === 'invalid_admin_token' ? 'Bearer realm="openpit"' : 'ApiKey realm="openpit"';
}
