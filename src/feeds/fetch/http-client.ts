import { messageOf } from '../../runtime/log/log.ts';
import { type BodyKind, kindName, kindOf } from '../formats/body.ts';
import type { Runtime } from './runtime.ts';

export interface FetchLimits {
  /** A body is read up to here and no further, unpacked. */
  bytesMax: number;
  /** For one answer, from the first byte sent to the last one read; so also for silence. */
  timeoutMs: number;
  attempts: number;
  /** A provider that asks for a longer pause is left alone, and the run is over. */
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
  /** Hosts, with their port where it is not the usual one, that may be spoken to. */
  hosts: ReadonlySet<string>;
  kind: BodyKind;
  etag: string | undefined;
  lastModified: string | undefined;
  signal: AbortSignal;
  /** Told before each attempt. What it throws ends the asking. */
  onAttempt(): Promise<void>;
}

export type FetchResult =
  | { outcome: 'body'; body: Uint8Array; etag: string | undefined; lastModified: string | undefined }
  /** What was taken in the last time is still all there is. */
  | { outcome: 'unchanged' }
  | FetchFailure;

export interface FetchFailure {
  outcome: 'failed';
  /** In plain words, without the URL: it may hold a key. */
  reason: string;
  /** Whether the provider as a whole may be in trouble: it was not reached, not in time, or it answered with 5xx or 429. */
  isOutage?: true;
  /** The provider asked not to be called again before this long, in ms. */
  comeBackMs?: number;
}

type Attempt = FetchResult | { outcome: 'again'; failure: FetchFailure; pauseMs?: number };

/** A chain of redirects that is longer goes nowhere. */
const REDIRECTS_MAX = 5;
/** The first pause before another attempt; the next is four times as long. */
const FIRST_PAUSE_MS = 1_000;

/** One request, with as many attempts as it may have. A failure is an answer, not an exception. */
export async function fetchBody(
  ask: BodyRequest,
  runtime: Runtime,
  limits: FetchLimits = FETCH_LIMITS,
): Promise<FetchResult> {
  for (let attempt = 1; ; attempt++) {
    await ask.onAttempt();
    const made = await attemptOnce(ask, runtime, limits);
    if (made.outcome !== 'again') return made;
    const { failure } = made;
    const pauseMs = made.pauseMs ?? FIRST_PAUSE_MS * 4 ** (attempt - 1) * (0.5 + runtime.random());
    if (pauseMs > limits.pauseMsMax) return { ...failure, comeBackMs: pauseMs };
    if (attempt >= limits.attempts) {
      const reason = attempt > 1 ? `${failure.reason} (${attempt} attempts)` : failure.reason;
      return made.pauseMs === undefined
        ? { ...failure, reason }
        : { ...failure, reason, comeBackMs: pauseMs };
    }
    await runtime.sleep(pauseMs, ask.signal);
    if (ask.signal.aborted) return failed('it was stopped');
  }
}

async function attemptOnce(ask: BodyRequest, runtime: Runtime, limits: FetchLimits): Promise<Attempt> {
  const deadline = AbortSignal.timeout(limits.timeoutMs);
  const signal = AbortSignal.any([ask.signal, deadline]);
  try {
    const answer = await follow(ask, signal);
    if (!(answer instanceof Response)) return answer;
    const read = await readAnswer(ask, answer, runtime, limits);
    if (read.outcome !== 'body') void answer.body?.cancel().catch(() => {});
    return read;
  } catch (error) {
    if (ask.signal.aborted) return failed('it was stopped');
    if (deadline.aborted) return again(`no complete answer within ${limits.timeoutMs / 1000} s`);
    return again(networkReason(error));
  }
}

/** Follows redirects, as far as they lead to hosts that may be spoken to. */
async function follow(ask: BodyRequest, signal: AbortSignal): Promise<Response | FetchFailure> {
  let url = new URL(ask.url);
  const headers = new Headers({ Accept: '*/*', 'User-Agent': 'openpit' });
  if (ask.etag !== undefined) headers.set('If-None-Match', ask.etag);
  if (ask.lastModified !== undefined) headers.set('If-Modified-Since', ask.lastModified);
  for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
    const forbidden = reasonAgainst(url, ask.hosts);
    if (forbidden) return failed(hop === 0 ? forbidden : `it was redirected: ${forbidden}`);
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    void response.body?.cancel().catch(() => {});
    if (!URL.canParse(location, url.href)) return failed('it was redirected to what is no URL');
    url = new URL(location, url);
  }
  return failed(`it was redirected more than ${REDIRECTS_MAX} times`);
}

function reasonAgainst(url: URL, hosts: ReadonlySet<string>): string | undefined {
  if (!hosts.has(url.host)) return `${url.host} is not a host of this provider`;
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) return undefined;
  return `${url.host} was to be asked without TLS`;
}

async function readAnswer(
  ask: BodyRequest,
  response: Response,
  runtime: Runtime,
  limits: FetchLimits,
): Promise<Attempt> {
  const { status, headers } = response;
  if (status === 304) {
    const asked = ask.etag !== undefined || ask.lastModified !== undefined;
    return asked
      ? { outcome: 'unchanged' }
      : failed('the provider answered 304 to a request without conditions');
  }
  if (status === 429 || status === 408 || status >= 500) {
    const pauseMs = retryAfterMs(headers.get('retry-after'), runtime.now());
    return again(`the provider answered ${status}`, pauseMs);
  }
  if (status !== 200) return failed(`the provider answered ${status}`);
  const announced = Number(headers.get('content-length') ?? Number.NaN);
  const tooLong = failed(`the body is longer than ${limits.bytesMax} bytes`);
  if (announced > limits.bytesMax) return tooLong;
  const body = await readUpTo(response, limits.bytesMax);
  if (!body) return tooLong;
  const isPacked = headers.has('content-encoding');
  if (!isPacked && !Number.isNaN(announced) && body.length !== announced) {
    return again(`the body has ${body.length} bytes, and ${announced} were announced`);
  }
  const kind = kindOf(body);
  if (kind !== ask.kind) {
    return failed(`the body is ${kindName(kind)} where ${kindName(ask.kind)} was expected`);
  }
  return {
    outcome: 'body',
    body,
    etag: headers.get('etag') ?? undefined,
    lastModified: headers.get('last-modified') ?? undefined,
  };
}

/** Counted while it is read, so that no more than the limit is ever held. */
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

/** Seconds, or a date. What is neither counts as not said. */
function retryAfterMs(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Bun's own texts are for programmers, and one of them is the same for a refused and a lost connection. */
function networkReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ECONNREFUSED') return 'it could not be reached';
  if (code === 'ECONNRESET' || code === 'ConnectionClosed')
    return 'the connection ended before the answer was complete';
  return `the connection failed: ${messageOf(error)}`;
}

function failed(reason: string): FetchFailure {
  return { outcome: 'failed', reason };
}

function again(reason: string, pauseMs?: number): Attempt {
  const failure: FetchFailure = { outcome: 'failed', reason, isOutage: true };
  return pauseMs === undefined ? { outcome: 'again', failure } : { outcome: 'again', failure, pauseMs };
}
