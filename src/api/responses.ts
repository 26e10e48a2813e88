import type { Clock } from '../clock.ts';
import type { Customer } from '../gate/directory.ts';
import { acceptsGzip, COMPRESS_FROM_BYTES } from './encoding.ts';
import type { Answer } from './endpoint.ts';
import type { Refusal } from './errors.ts';
import { etagOfEncoding } from './etag.ts';
import { ALLOWED_METHODS, COMMON_HEADERS, JSON_TYPE, rateLimit, rateLimitPolicy } from './headers.ts';

/** What every answer says of its request. */
export interface Addressee {
  requestId: string;
  /** Who asks, once that is known: keyed answers tell what is left of the quota. */
  customer: Customer | undefined;
}

/** How much of its quota a customer has left, as far as this process knows, and when it starts anew. */
export interface QuotaView {
  remaining(customer: Customer): number;
  resetsAt(): number;
}

type Headers = Record<string, string>;

/** Makes the responses. */
export class Responses {
  readonly #quota: QuotaView;
  readonly #clock: Clock;

  constructor(quota: QuotaView, clock: Clock) {
    this.#quota = quota;
    this.#clock = clock;
  }

  success(to: Addressee, answer: Answer, etag: string, acceptEncoding: string | null): Response {
    const body = answer.prefix + answer.content;
    const headers = this.#headers(to, {
      'Content-Type': JSON_TYPE,
      'Cache-Control': cacheControl(answer),
      ETag: etag,
    });
    if (body.length <= COMPRESS_FROM_BYTES || !acceptsGzip(acceptEncoding))
      return new Response(body, { headers });
    headers['Content-Encoding'] = 'gzip';
    headers.ETag = etagOfEncoding(etag, 'gzip');
    return new Response(Bun.gzipSync(body), { headers });
  }

  notModified(to: Addressee, answer: Answer, etag: string): Response {
    return new Response(null, {
      status: 304,
      headers: this.#headers(to, { 'Cache-Control': cacheControl(answer), ETag: etag }),
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
      resetAt: Math.floor(this.#quota.resetsAt() / 1000),
    };
    return Response.json(body, {
      headers: this.#headers(to, { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' }),
    });
  }

  /** The usage query tells its errors in a field of its own, and in nothing else. */
  refusal(to: Addressee, { code, status, message, retryAfterSeconds }: Refusal, ofUsage: boolean): Response {
    const body = ofUsage
      ? { success: false, error: message }
      : { success: false, message, statusCode: String(status), code };
    const headers = this.#headers(to, { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' });
    if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
    if (status === 401) headers['WWW-Authenticate'] = 'ApiKey realm="openpit"';
    if (status === 405) headers.Allow = ALLOWED_METHODS;
    return Response.json(body, { status, headers });
  }

  secondsToReset(): number {
    return Math.max(1, Math.ceil((this.#quota.resetsAt() - this.#clock.now()) / 1000));
  }

  #headers({ requestId, customer }: Addressee, own: Headers): Headers {
    const headers: Headers = { ...COMMON_HEADERS, 'X-Request-Id': requestId, ...own };
    if (customer) {
      const { quota, burstPerSecond } = customer.plan;
      headers['RateLimit-Policy'] = rateLimitPolicy(quota, burstPerSecond);
      headers.RateLimit = rateLimit(this.#quota.remaining(customer), this.secondsToReset());
    }
    return headers;
  }
}

/** Closed days change only by a correction; anything that holds today may change at once. */
function cacheControl({ holdsToday }: Answer): string {
  return holdsToday ? 'private, no-cache' : 'private, max-age=60';
}
