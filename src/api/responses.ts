import type { Customer } from '../gate/directory.ts';
import { withoutKeys } from '../gate/key.ts';
import type { Allowance } from './allowance.ts';
import { acceptsGzip, COMPRESS_FROM_BYTES } from './encoding.ts';
import type { Answer } from './endpoint.ts';
import type { Refusal } from './errors.ts';
import { etagOfEncoding } from './etag.ts';
import { ALLOWED_METHODS, COMMON_HEADERS, JSON_TYPE, rateLimit, rateLimitPolicy } from './headers.ts';

/** What every answer says of its request. */
export interface Addressee {
  request: Request;
  requestId: string;
  /** Who asks, once that is known: keyed answers tell what is left of the quota. */
  customer: Customer | undefined;
}

type Headers = Record<string, string>;

/** Makes the responses. */
export class Responses {
  readonly #allowance: Allowance;

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  success(to: Addressee, answer: Answer, etag: string): Response {
    const body = answer.prefix + answer.content;
    const gzip = isSentGzipped(body, to);
    return jsonResponse(body, 200, gzip, this.#headers(to, cachingHeaders(answer, etag, gzip)));
  }

  /** Its headers are those of the answer that it stands for. */
  notModified(to: Addressee, answer: Answer, etag: string): Response {
    const gzip = isSentGzipped(answer.prefix + answer.content, to);
    return new Response(null, {
      status: 304,
      headers: this.#headers(to, cachingHeaders(answer, etag, gzip)),
    });
  }

  usage(to: Addressee, customer: Customer, used: number): Response {
    const { name, quota } = customer.plan;
    const body = {
      success: true,
      plan: name,
      quota,
      used,
      remaining: Math.max(0, quota - used),
      resetAt: Math.floor(this.#allowance.resetAt / 1000),
    };
    return jsonResponse(JSON.stringify(body), 200, false, this.#headers(to, { 'Cache-Control': 'no-store' }));
  }

  /** The usage query tells its errors in a field of its own, and in nothing else. */
  refusal(to: Addressee, { code, status, message, retryAfterSeconds }: Refusal, ofUsage: boolean): Response {
    const text = withoutKeys(message);
    const body = JSON.stringify(
      ofUsage
        ? { success: false, error: text }
        : { success: false, message: text, statusCode: String(status), code },
    );
    const headers = this.#headers(to, { 'Cache-Control': 'no-store' });
    if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
    if (status === 401) headers['WWW-Authenticate'] = challengeOf(code);
    if (status === 405) headers.Allow = ALLOWED_METHODS;
    return jsonResponse(body, status, isSentGzipped(body, to), headers);
  }

  #headers({ requestId, customer }: Addressee, own: Headers): Headers {
    const headers: Headers = { ...COMMON_HEADERS, 'X-Request-Id': requestId, ...own };
    if (customer) {
      const { quota, burstPerSecond } = customer.plan;
      headers['RateLimit-Policy'] = rateLimitPolicy(quota, burstPerSecond);
      const remaining = this.#allowance.known(customer);
      if (remaining !== undefined) headers.RateLimit = rateLimit(remaining, this.#allowance.secondsToReset);
    }
    return headers;
  }
}

function jsonResponse(body: string, status: number, gzip: boolean, headers: Headers): Response {
  headers['Content-Type'] = JSON_TYPE;
  if (!gzip) return new Response(body, { status, headers });
  headers['Content-Encoding'] = 'gzip';
  return new Response(Bun.gzipSync(body), { status, headers });
}

function isSentGzipped(body: string, { request }: Addressee): boolean {
  return body.length > COMPRESS_FROM_BYTES && acceptsGzip(request.headers.get('accept-encoding'));
}

function cachingHeaders(answer: Answer, etag: string, gzip: boolean): Headers {
  return { 'Cache-Control': cacheControl(answer), ETag: gzip ? etagOfEncoding(etag, 'gzip') : etag };
}

function challengeOf(code: Refusal['code']): string {
  return code === 'invalid_admin_token' ? 'Bearer realm="openpit"' : 'ApiKey realm="openpit"';
}

/** Closed days change only by a correction; anything that holds today may change at once. */
function cacheControl({ holdsToday }: Answer): string {
  return holdsToday ? 'private, no-cache' : 'private, max-age=60';
}
