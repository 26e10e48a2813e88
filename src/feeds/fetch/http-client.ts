import { codeOf, messageOf } from '../../runtime/log/log.ts';
import { isSecure } from '../addresses.ts';
import { type BodyKind, kindName, kindOf } from '../formats/body.ts';
import type { Runtime } from './runtime.ts';

export interface FetchLimits {
  /** Of a decompressed body. */
  bytesMax: number;
  /** For one attempt, from sending the request to reading the last byte. */
  timeoutMs: number;
  attempts: number;
  /** If a provider asks for a longer pause, the request fails instead. */
  pauseMsMax: number;
}

export const FETCH_LIMITS: FetchLimits = {
  bytesMax: 20 * 1024 * 1024,
  timeoutMs: 30_000,
  attempts: 3,
  pauseMsMax: 60_000,
};

export interface BodyRequest {
  url: string;
  /** Hosts that may be contacted, with the port if it is not the default. */
  hosts: ReadonlySet<string>;
  kind: BodyKind;
  etag: string | undefined;
  lastModified: string | undefined;
  signal: AbortSignal;
  /** Called before each attempt. If it throws, the request ends. */
  onAttempt(): Promise<void>;
}

export type FetchResult =
  | { outcome: 'body'; body: Uint8Array; etag: string | undefined; lastModified: string | undefined }
  /** 304: the body is the one that was fetched the last time. */
  | { outcome: 'unchanged' }
  | FetchFailure;

export interface FetchFailure {
  outcome: 'failed';
  /** Without the URL, which may contain an API key. */
  reason: string;
  /** Whether the whole provider may be down: a network error, a timeout, or a 408, 429 or 5xx response. */
  isOutage?: true;
  /** The status of the response, if that is what was wrong. */
  status?: number;
  /** The start of a body of the wrong kind. */
  excerpt?: string;
  /** How long the provider asked us to wait before the next request. */
  comeBackMs?: number;
}

type Attempt = FetchResult | { outcome: 'retry'; failure: FetchFailure; pauseMs?: number };

const REDIRECTS_MAX = 5;
/** Pause before the second attempt; each further pause is four times as long. */
const FIRST_PAUSE_MS = 1_000;

/** Fetches one body, with retries. Returns failures instead of throwing them. */
export async function fetchBody(
  request: BodyRequest,
  runtime: Runtime,
  limits: FetchLimits = FETCH_LIMITS,
): Promise<FetchResult> {
  for (let attempt = 1; ; attempt++) {
    await request.onAttempt();
    const result = await attemptOnce(request, runtime, limits);
    if (result.outcome !== 'retry') return result;
    const { failure } = result;
    const pauseMs = result.pauseMs ?? FIRST_PAUSE_MS * 4 ** (attempt - 1) * (0.5 + runtime.random());
    if (pauseMs > limits.pauseMsMax) return { ...failure, comeBackMs: pauseMs };
    if (attempt >= limits.attempts) {
      const reason = attempt > 1 ? `${failure.reason} (${attempt} attempts)` : failure.reason;
      return result.pauseMs === undefined
        ? { ...failure, reason }
        : { ...failure, reason, comeBackMs: pauseMs };
    }
    await runtime.sleep(pauseMs, request.signal);
    if (request.signal.aborted) return failed('the run was stopped');
  }
}

async function attemptOnce(request: BodyRequest, runtime: Runtime, limits: FetchLimits): Promise<Attempt> {
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  const signal = AbortSignal.any([request.signal, deadline]);
  try {
    const response = await follow(request, signal);
    if (!(response instanceof Response)) return response;
    const read = await readResponse(request, response, runtime, limits);
    if (read.outcome !== 'body') void response.body?.cancel().catch(() => {});
    return read;
  } catch (error) {
    if (request.signal.aborted) return failed('the run was stopped');
    if (deadline.aborted) return retry(`no complete response within ${limits.timeoutMs / 1000} s`);
    return retry(networkReason(error));
  }
}

/** Follows redirects, but only to hosts that may be contacted. */
async function follow(request: BodyRequest, signal: AbortSignal): Promise<Response | FetchFailure> {
  let url = new URL(request.url);
  const headers = new Headers({ Accept: '*/*', 'User-Agent': 'openpit' });
  if (request.etag !== undefined) headers.set('If-None-Match', request.etag);
  if (request.lastModified !== undefined) headers.set('If-Modified-Since', request.lastModified);
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    const forbidden = reasonAgainst(url, request.hosts);
    if (forbidden) return failed(hop === 0 ? forbidden : `redirected: ${forbidden}`);
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    void response.body?.cancel().catch(() => {});
    if (!URL.canParse(location, url.href)) return failed('redirected to an invalid URL');
    url = new URL(location, url);
  }
  return failed(`more than ${REDIRECTS_MAX} redirects`);
}

function reasonAgainst(url: URL, hosts: ReadonlySet<string>): string | undefined {
  if (!hosts.has(url.host)) return `${url.host} is not a host of this provider`;
  return isSecure(url) ? undefined : `${url.host} must be contacted over TLS`;
}

async function readResponse(
  request: BodyRequest,
  response: Response,
  runtime: Runtime,
  limits: FetchLimits,
): Promise<Attempt> {
  const { status, headers } = response;
  if (status === 304) {
    const isConditional = request.etag !== undefined || request.lastModified !== undefined;
    return isConditional
      ? { outcome: 'unchanged' }
      : failed('the provider answered 304 to an unconditional request');
  }
  if (status === 429 || status === 408 || status >= 500) {
    const pauseMs = retryAfterMs(headers.get('retry-after'), runtime.now());
    return retry(`the provider answered ${status}`, { status, pauseMs });
  }
  if (status !== 200) return { ...failed(`the provider answered ${status}`), status };
  const announced = Number(headers.get('content-length') ?? Number.NaN);
  const tooLong = failed(`the body is longer than ${limits.bytesMax} bytes`);
  if (announced > limits.bytesMax) return tooLong;
  const body = await readUpTo(response, limits.bytesMax);
  if (!body) return tooLong;
  const isCompressed = headers.has('content-encoding');
  if (!isCompressed && !Number.isNaN(announced) && body.length !== announced) {
    return retry(`the body has ${body.length} bytes, but Content-Length is ${announced}`);
  }
  const kind = kindOf(body);
  if (kind !== request.kind) {
    const reason = `the body is ${kindName(kind)} where ${kindName(request.kind)} was expected`;
    return { ...failed(reason), excerpt: excerptOf(body) };
  }
  return {
    outcome: 'body',
    body,
    etag: headers.get('etag') ?? undefined,
    lastModified: headers.get('last-modified') ?? undefined,
  };
}

/** The first words of a text body: of a web page, its title. */
function excerptOf(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, 4_096));
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? text;
  return title
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 80);
}

/** Counts bytes while reading, so that memory use is bounded. Undefined if the body is too long. */
async function readUpTo(response: Response, bytesMax: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) return undefined; // leaving the loop cancels the stream
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** Parses seconds or a date; undefined for anything else, and if that is now or over: the usual pause is longer. */
function retryAfterMs(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  const pauseMs = /^\d{1,9}$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return pauseMs > 0 ? pauseMs : undefined;
}

/** Replaces Bun's messages, one of which does not distinguish a refused from a lost connection. */
function networkReason(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return 'the provider could not be reached';
  if (code === 'ECONNRESET' || code === 'ConnectionClosed')
    return 'the connection closed before the response was complete';
  if (/^Zlib|Decompression/.test(code)) return 'the compressed body is damaged';
  return `the connection failed: ${messageOf(error)}`;
}

function failed(reason: string): FetchFailure {
  return { outcome: 'failed', reason };
}

function retry(
  reason: string,
  { status, pauseMs }: { status?: number; pauseMs?: number | undefined } = {},
): Attempt {
  const failure = { ...failed(reason), isOutage: true as const, ...(status !== undefined && { status }) };
  return { outcome: 'retry', failure, ...(pauseMs !== undefined && { pauseMs }) };
}
