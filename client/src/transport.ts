import { AnswerCache } from './answer-cache.ts';
import { Deadline } from './deadline.ts';
import { ConnectionLost, errorOf, OpenpitError, QuotaExhausted, RateLimited } from './errors.ts';
import type { CancelSignal, Query, RequestOptions } from './options.ts';
import { Pace } from './pace.ts';
import { backoffMs, sleep } from './sleep.ts';
import type { Capabilities } from './types.ts';

export interface TransportOptions {
  /** With the base path, without a slash at its end. */
  base: string;
  key: string | undefined;
  timeoutMs: number;
  /** How often a call is retried. */
  retries: number;
  /** Longer waits are left to the caller. */
  waitSecondsMax: number;
}

type OutgoingRequest = RequestInit & { headers: Record<string, string> };

/** Paths that never cost a unit, so that they can be repeated at any time. */
const FREE = /^\/(usage|account|units|feeds|health|admin|console|openapi)\b/;

/** Requests that read the ledger, which cost a unit whatever their outcome. */
const READS_LEDGER = /\/rates\/revisions\b|[?&](asOf=|interval=(minute|5min|15min|hour)\b)/i;

/** Tables as text, by path, parameter or media type. The service does not keep long ones, so it would count a repeat. */
const TEXT_TABLE_URL = /\.(csv|ndjson)\b|[?&]format=(csv|ndjson)\b/i;
export const TEXT_TABLE_TYPE = /\/(csv|x-ndjson)\b/i;

/** How many characters of an unexpected body an error shows. */
const SHOWN_LENGTH = 80;

/** Errors of Node, Bun and Deno that occur before anything is sent. Browsers do not report them. */
const NOT_SENT = /REFUSED|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|Refused|FailedToOpenSocket|tcp connect|URL/;

/**
 * Sends requests: paced, with a timeout, conditional where an answer is cached, and retried where that cannot cost a unit twice.
 *
 *     429 of the burst limit      not counted       repeated
 *     503 of the service          not counted       repeated; if it reads the ledger, it is counted and not repeated
 *     no connection               not sent          repeated
 *     lost, timed out, 502, 504   counted or not    repeated on free paths, and where the service recognizes the request;
 *                                                   never if it reads the ledger or is for a table of CSV or NDJSON
 *
 * A request that costs a unit has an id of its own, by which Openpit recognizes it: browsers and Bun also retry on their own
 * when a connection breaks.
 */
export class Transport {
  readonly options: TransportOptions;
  readonly #keyHeader: Record<string, string> = {};
  readonly #pace = new Pace();
  readonly #cache = new AnswerCache();
  /** Whether the last response had the id of its request. A gateway may replace it. */
  #keepsIds = false;

  constructor(options: TransportOptions) {
    this.options = options;
    if (options.key !== undefined) this.#keyHeader['x-api-key'] = options.key;
    new Headers(this.#keyHeader); // throws if it cannot be sent, which `fetch` reports like a lost connection
  }

  /** A successful response. Its body is complete, so that reading it cannot fail. */
  async request(path: string, query: Query = {}, options: RequestOptions = {}): Promise<Response> {
    const { signal, method = 'GET' } = options;
    const { retries, waitSecondsMax } = this.options;
    const url = this.url(path, query);
    const isFree = FREE.test(path) || /[?&]dryRun=true\b/.test(url);
    const readsLedger = READS_LEDGER.test(url);
    const accepted = new Headers(options.headers).get('accept') ?? '';
    const isRecognizable = !readsLedger && !TEXT_TABLE_URL.test(url) && !TEXT_TABLE_TYPE.test(accepted);
    const id = `once-${crypto.getRandomValues(new Uint32Array(3)).join('-')}`;
    const startedAt = performance.now();
    for (let tries = 0; ; tries++) {
      try {
        return await this.#try(url, id, options);
      } catch (error) {
        const waitMs = tries < retries ? retryMs(error, tries, waitSecondsMax) : undefined;
        if (waitMs === undefined || signal?.aborted) throw error;
        if (method !== 'GET' && !(error instanceof RateLimited)) throw error;
        const { mayBeCounted, status } = error as OpenpitError;
        // One that reads the ledger costs a unit before it is tried.
        const mayCostTwice = !isFree && (mayBeCounted || (readsLedger && status >= 500));
        if (mayCostTwice && !isRecognizable) throw error;
        await sleep(waitMs, signal);
        if (mayCostTwice && !(await this.#isRecognized(startedAt, signal))) throw error;
      }
    }
  }

  /** Whether the process that may have counted a request is the one that serves now, and recognizes the request. */
  async #isRecognized(startedAt: number, signal: CancelSignal | undefined): Promise<boolean> {
    try {
      const response = await this.request('/account/capabilities', {}, { signal });
      const { idempotency } = (await response.json()) as Capabilities;
      const elapsedSeconds = (performance.now() - startedAt) / 1_000;
      return (
        this.#keepsIds &&
        !!idempotency &&
        elapsedSeconds < idempotency.keptSeconds / 2 &&
        elapsedSeconds + 1 < idempotency.uptimeSeconds
      );
    } catch {
      return false; // a service without it
    }
  }

  url(path: string, query: Query): string {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) parameters.set(name, String(value));
    }
    const text = parameters.toString();
    // Without its slash, the path would become a part of the host.
    return this.options.base + path.replace(/^\/?/, '/') + (text && (path.includes('?') ? '&' : '?') + text);
  }

  /** Sends one request, and returns when the headers of its response have arrived. It has the whole time from its turn on. */
  async send(url: string, init: OutgoingRequest, deadline: Deadline): Promise<Response> {
    const { signal } = deadline;
    const leave = await this.#pace.enter(signal);
    deadline.extend();
    try {
      const headers = { ...init.headers, ...this.#keyHeader };
      // A redirect is an error: to another address, `fetch` would send the key as well.
      const response = await fetch(url, { ...init, headers, redirect: 'manual', signal });
      this.#pace.learn(response);
      return response;
    } catch (error) {
      throw lost(error, signal);
    } finally {
      leave();
    }
  }

  async #try(url: string, id: string, options: RequestOptions): Promise<Response> {
    const { method = 'GET', body, signal, timeoutMs = this.options.timeoutMs } = options;
    const deadline = new Deadline(signal, timeoutMs);
    const isRead = method === 'GET';
    const isJson = typeof body === 'object' && !(body instanceof Blob);
    const known = isRead ? this.#cache.get(url) : undefined;
    const init = {
      method,
      headers: {
        ...(isJson && { 'content-type': 'application/json' }),
        ...options.headers,
        'x-request-id': id,
        ...(known && { 'if-none-match': known.etag }),
      },
      body: isJson ? JSON.stringify(body) : ((body ?? null) as string | Blob | null),
      // A browser may have a cached response from before a reload. This client revalidates its own cached answers itself.
      cache: known ? ('no-store' as const) : ('no-cache' as const),
    };
    try {
      const response = await this.send(url, init, deadline);
      const { headers } = response;
      this.#keepsIds = headers.get('x-request-id') === id;
      if (response.status === 304 && known) return new Response(known.body, { headers });
      const received = await response.blob().catch((error) => {
        throw lost(error, deadline.signal);
      });
      const complete = new Response(received, { headers });
      if (!response.ok) requireSuccess(response, await complete.text());
      if (isRead) this.#cache.set(url, headers.get('etag'), received);
      return complete;
    } catch (error) {
      if (!deadline.isOver) throw error;
      const details = { code: 'timeout', mayBeCounted: true, cause: error };
      throw new ConnectionLost(`No complete answer within ${timeoutMs} ms.`, details);
    } finally {
      deadline.end();
    }
  }
}

/** Throws the error of a response that is not a success. */
export function requireSuccess(response: Response, text: string): void {
  const { ok, status, headers } = response;
  if (!ok && status < 400 && status !== 304) {
    const target = headers.get('location') ?? 'another address'; // browsers hide it, and the status
    throw new OpenpitError(
      `Received a redirect to ${target}, which must not get the key. Check the option "url".`,
      { code: 'redirected', status: status || 302 },
    );
  }
  const body = parseObject(text);
  if (!body) throw unexpected(response, text, 'a JSON object');
  if (!ok || body.success === false) throw errorOf(status, body, headers);
}

function parseObject(text: string): Record<string, unknown> | null | undefined {
  try {
    const body = JSON.parse(text);
    return typeof body === 'object' && !Array.isArray(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** The error of a response that is not from the service: it says what was received, and what to check. */
export function unexpected({ status, headers }: Response, text: string, expected: string): OpenpitError {
  const start = text.slice(0, SHOWN_LENGTH).replace(/\s+/g, ' ').trim();
  const type = headers.get('content-type')?.split(';')[0] || 'text';
  const received = start
    ? `${type} with the status ${status} ("${start}")`
    : `an empty body with the status ${status}`;
  return new OpenpitError(
    `Received ${received} where ${expected} was expected. Check the option "url", and proxies and gateways in between.`,
    {
      code: 'invalid_response',
      status,
      requestId: headers.get('x-request-id') ?? undefined,
      mayBeCounted: true,
    },
  );
}

/** The reason of the signal, if that has ended the request. */
function lost(cause: unknown, { aborted, reason }: AbortSignal): unknown {
  if (aborted) return reason;
  const {
    code,
    message,
    cause: inner,
  } = cause as Error & { code?: string; cause?: Error & { code?: string } };
  const isSent = !NOT_SENT.test([code, inner?.code, inner?.message, message].join(' '));
  const details = { code: 'connection_lost', mayBeCounted: isSent, cause };
  return new ConnectionLost(
    `${isSent ? 'The connection was lost' : 'There is no connection'}: ${inner?.message || message || code}`,
    details,
  );
}

/** How long to wait before a retry; undefined if a retry would not help. */
function retryMs(error: unknown, tries: number, waitSecondsMax: number): number | undefined {
  if (!(error instanceof OpenpitError) || error instanceof QuotaExhausted) return undefined;
  const { status, retryAfter } = error;
  if (status > 0 && status !== 429 && status < 502) return undefined;
  if (retryAfter === undefined) return backoffMs(tries);
  return retryAfter > waitSecondsMax ? undefined : retryAfter * 1_000 + Math.random() * 250;
}
