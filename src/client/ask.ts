import { messageOf } from '../runtime/log/log.ts';

/**
 * Sends a GET request of the interface and returns the JSON of its answer: to a server, to this process, or to the ledger
 * on this machine. Throws `RequestRefused` if the answer is an error.
 */
export type AskRates = <Answer>(path: string, params?: QueryValues) => Promise<Answer>;

/** Parameters; those that are undefined are not sent. */
export type QueryValues = Readonly<Record<string, string | undefined>>;

/** An error response of the interface. */
export class RequestRefused extends Error {
  readonly status: number;
  /** The stable code of the error, such as `unknown_symbol`. */
  readonly code: string | undefined;

  constructor(message: string, status: number, code: string | undefined) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const TIMEOUT_MS = 60_000;

/** Asks a server over HTTP. `key` may be empty, for a server that refuses it with instructions. */
export function askServer(base: string, key: string): AskRates {
  const root = base.replace(/\/+$/, '');
  return async <Answer>(path: string, params: QueryValues = {}) => {
    const { status, text } = await fetchText(root + pathWith(path, params), key);
    return answerOf<Answer>(status, text);
  };
}

/** A path with its query string. */
export function pathWith(path: string, params: QueryValues): string {
  const given = Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** The JSON of a successful response; throws `RequestRefused` for any other. */
export function answerOf<Answer>(status: number, text: string): Answer {
  const body = parse(text);
  if (status >= 200 && status < 300 && body !== undefined) return body as Answer;
  const { message, error, code } = body ?? {};
  const reason = [message, error].find((one) => typeof one === 'string');
  throw new RequestRefused(
    reason ?? `the server answered with status ${status} and without a message`,
    status,
    typeof code === 'string' ? code : undefined,
  );
}

function parse(text: string): { message?: unknown; error?: unknown; code?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

async function fetchText(url: string, key: string): Promise<{ status: number; text: string }> {
  try {
    const headers = key === '' ? undefined : { 'x-api-key': key };
    const response = await fetch(url, {
      ...(headers && { headers }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new Error(`${new URL(url).origin} cannot be reached: ${messageOf(error)}`);
  }
}
