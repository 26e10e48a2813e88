import { paced } from './pace.ts';
import { secret } from './session.ts';

/** HTTP requests to the service that this page came from. */

/** A failure with a message for the user. `status` 0: no response. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** The key is invalid, so another one is needed. */
  get isAboutKey(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

interface Envelope {
  success?: boolean;
  message?: string;
  error?: string;
  code?: string;
}

export interface Ask {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** A file, instead of a body in JSON. */
  file?: Blob;
  signal?: AbortSignal;
}

/** How often a rate-limited request is retried, and how long to wait for that. */
const TRIES_MAX = 8;
const WAIT_SECONDS_MAX = 3;

export async function ask<T>(path: string, options: Ask = {}): Promise<T> {
  return (await askWithHeaders<T>(path, options)).body;
}

export async function askWithHeaders<T>(
  path: string,
  options: Ask = {},
): Promise<{ body: T; headers: Headers }> {
  for (let tries = 1; ; tries++) {
    const hasKey = options.headers?.['x-api-key'] !== undefined;
    const response = await (hasKey ? paced(() => send(path, options)) : send(path, options));
    const waitSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const tooFast = response.status === 429 && waitSeconds <= WAIT_SECONDS_MAX && tries < TRIES_MAX;
    if (!tooFast) return { body: await read<T>(response), headers: response.headers };
    await new Promise((resolve) => setTimeout(resolve, waitSeconds * 1000 + 100 * tries));
  }
}

/** Sends a request with an API key. */
export function askWithKey<T>(key: string, path: string, options: Ask = {}): Promise<T> {
  return ask<T>(path, { ...options, headers: { ...options.headers, 'x-api-key': key } });
}

/** A response that is a file. */
export async function askForFile(key: string, path: string): Promise<Blob> {
  const response = await paced(() => send(path, { headers: { 'x-api-key': key } }));
  return response.ok ? response.blob() : read<Blob>(response);
}

const asked = new Map<string, Promise<unknown>>();

/** The same for what hardly ever changes: it is asked for once. A failure is not kept. */
export function askOnce<T>(key: string, path: string): Promise<T> {
  const name = `${key} ${path}`;
  const known = asked.get(name) as Promise<T> | undefined;
  if (known) return known;
  const answer = askWithKey<T>(key, path);
  asked.set(name, answer);
  answer.catch(() => asked.delete(name));
  return answer;
}

/** Sends a request with the admin token. */
export function askAsOperator<T>(token: string, path: string, options: Ask = {}): Promise<T> {
  const name = secret('operator');
  const headers = {
    ...options.headers,
    authorization: `Bearer ${token}`,
    ...(name !== '' && { 'openpit-operator': encodeName(name) }),
  };
  return ask<T>(path, { ...options, headers });
}

/** The error of a request that got no response. */
export function offline(): ApiError {
  const message = 'The service does not respond. It may be restarting, or the network may be down.';
  return new ApiError(0, 'offline', message);
}

/** A header holds only Latin letters; others are left out. */
function encodeName(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
}

/** Whether the service cannot answer at the moment: asking again later may help. */
export function isOutage(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 503);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function send(
  path: string,
  { method = 'GET', headers = {}, body, file, signal }: Ask,
): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(file && { body: file }),
      ...(signal && { signal }),
      cache: 'no-cache',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw offline();
  }
}

async function read<T>(response: Response): Promise<T> {
  const body = (await response.json().catch(() => ({}))) as Envelope;
  if (response.ok && body.success !== false) return body as T;
  const message = body.message ?? body.error ?? `The service answered with status ${response.status}.`;
  throw new ApiError(response.status, body.code ?? 'unknown', message);
}
