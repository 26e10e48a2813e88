/** Requests to the service that this page came from. openpit-client paces them, repeats them and names their errors. */

import {
  ConnectionLost,
  Openpit,
  OpenpitError,
  type RequestOptions,
  Unavailable,
} from '../../../client/src/index.ts';
import { secret } from './session.ts';

export { ConnectionLost, OpenpitError };

/** Retries hide a short outage. A longer one is shown after a few seconds. */
const RETRIES = 3;

/** After this wait, the page says why there is no response yet. */
const WAIT_SECONDS_MAX = 3;

/** The operator's requests include uploads and checks of the whole ledger. */
const OPERATOR_TIMEOUT_MS = 600_000;

const clients = new Map<string, Openpit>();

/** The client for a key. An empty key sends requests without one. */
export function clientOf(key: string): Openpit {
  const options = { key: key || undefined, retries: RETRIES, waitSecondsMax: WAIT_SECONDS_MAX };
  return clients.getOrInsertComputed(key, () => new Openpit(options));
}

/** Sends a request without a key. */
export function ask<T>(path: string): Promise<T> {
  return askWithKey<T>('', path);
}

/** Sends a request with an API key. */
export async function askWithKey<T>(key: string, path: string, options?: RequestOptions): Promise<T> {
  const client = clientOf(key);
  if (options?.method === undefined) return client.get<T>(path, {}, options);
  return (await client.request(path, {}, options)).json() as Promise<T>;
}

const answersByRequest = new Map<string, Promise<unknown>>();

/** Like `askWithKey`, for responses that hardly ever change: cached while the page is open. Failures are not cached. */
export function askOnce<T>(key: string, path: string): Promise<T> {
  const name = `${key} ${path}`;
  const known = answersByRequest.get(name) as Promise<T> | undefined;
  if (known) return known;
  const answer = askWithKey<T>(key, path);
  answersByRequest.set(name, answer);
  answer.catch(() => answersByRequest.delete(name));
  return answer;
}

/** Sends a request with the admin token. */
export function askAsOperator<T>(token: string, path: string, options: RequestOptions = {}): Promise<T> {
  const name = secret('operator');
  const headers = {
    authorization: `Bearer ${token}`,
    ...(name !== '' && { 'openpit-operator': inHeader(name).slice(0, 64) }),
    ...options.headers,
  };
  return askWithKey<T>('', path, { timeoutMs: OPERATOR_TIMEOUT_MS, ...options, headers });
}

/** The headers of a definition that must not replace an existing one, perhaps of another operator. */
export const ONLY_NEW = { 'if-none-match': '*' };

/** A text for a header. Those are limited to ASCII here: any other character becomes a question mark. */
export function inHeader(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

/** What the page refuses to send, and why. */
export class NotSent extends Error {}

/** Whether the service is unavailable at the moment, so that a retry may help. */
export function isOutage(error: unknown): boolean {
  return error instanceof OpenpitError && (error.status === 0 || error instanceof Unavailable);
}

/** Whether the request was refused for what it asks for, so that the same one would be refused again. */
export function isRefused(error: unknown): error is OpenpitError {
  return error instanceof OpenpitError && (error.status === 400 || error.status === 404);
}

/** Whether the key was refused, so that another one is needed. */
export function isAboutKey(error: unknown): error is OpenpitError {
  return error instanceof OpenpitError && (error.status === 401 || error.status === 403);
}

export function messageOf(error: unknown): string {
  if (error instanceof ConnectionLost) {
    return 'The service does not respond. It may be restarting, or the network may be down.';
  }
  return error instanceof Error ? error.message : String(error);
}
