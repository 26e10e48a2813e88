import { ConnectionLost, Openpit, OpenpitError, type StreamRate } from '../../client/src/index.ts';
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

/** A price that has just changed. */
export type StreamedPrice = StreamRate;

/** A user is waiting: two attempts at most. */
const RETRIES = 1;

/** Asks a server over HTTP. Without a key, the server refuses with instructions. */
export function askServer(url: string, key: string | undefined): AskRates {
  const client = new Openpit({ url, key, retries: RETRIES });
  return async <Answer>(path: string, params: QueryValues = {}) => {
    try {
      return requireAll(await client.get<Answer>(path, params));
    } catch (error) {
      throw refusalOf(error, url);
    }
  };
}

/** Under `/v3`, an answer lacks the symbols that the server does not know, which a table would not show. */
function requireAll<Answer>(answer: Answer): Answer {
  const { unresolved = {} } = answer as { unresolved?: Readonly<Record<string, { message: string }>> };
  const messages = Object.values(unresolved).map(({ message }) => message);
  if (messages.length > 0) throw new RequestRefused(messages.join(' '), 404, 'unknown_symbol');
  return answer;
}

/** The newest price of each symbol of a server, now and whenever it changes. */
export async function* streamFromServer(
  url: string,
  key: string | undefined,
  symbols: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<StreamedPrice> {
  try {
    const client = new Openpit({ url, key, retries: RETRIES });
    // Free. The stream itself would try a mistyped address again and again, without a message.
    await client.dryRun('/rates/stream', { symbols: symbols.join(',') }, { signal });
    yield* client.stream(symbols, { signal });
  } catch (error) {
    throw refusalOf(error, url);
  }
}

function refusalOf(error: unknown, url: string): unknown {
  if (error instanceof ConnectionLost) return unreachable(url, error);
  return error instanceof OpenpitError ? new RequestRefused(error.message, error.status, error.code) : error;
}

/** Names the address: it may be mistyped. */
export function unreachable(url: string, reason: unknown): Error {
  return new Error(
    `${url} cannot be reached; check the address, and that the service is running (${messageOf(reason)})`,
  );
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
