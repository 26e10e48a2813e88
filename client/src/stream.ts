import { Deadline } from './deadline.ts';
import { ConnectionLost, errorOf, OpenpitError, Unavailable } from './errors.ts';
import type { CancelSignal } from './options.ts';
import { backoffMs, sleep } from './sleep.ts';
import { requireSuccess, type Transport, unexpected } from './transport.ts';
import type { StreamRate } from './types.ts';

/** The service sends something at least every 5 s. */
const SILENCE_MS_MAX = 20_000;

export interface StreamOptions<N> {
  transport: Transport;
  url: string;
  signal: CancelSignal | undefined;
  parse(text: string): StreamRate<N>;
  /** About parameters that have no effect. */
  onWarning: ((message: string) => void) | undefined;
}

const STREAM_TYPE = 'text/event-stream';

interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/**
 * The newest price of each symbol, now and whenever it changes. A lost connection is reopened with the id of the last event,
 * so that no change is missed or delivered twice.
 */
export async function* readStream<N>(
  options: StreamOptions<N>,
): AsyncGenerator<StreamRate<N>, void, undefined> {
  const { signal, parse } = options;
  const seen = new SeenEvents();
  for (let failures = 0; ; failures++) {
    try {
      for await (const { id, data } of connect(options, seen.lastId)) {
        failures = 0;
        const rate = parse(data);
        if (seen.isNew(id, rate.symbol, data)) yield rate;
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!canReconnect(error, options.transport.options.waitSecondsMax)) throw error;
      const { retryAfter } = error as OpenpitError;
      await sleep(retryAfter === undefined ? backoffMs(failures, 250) : retryAfter * 1_000, signal);
    }
  }
}

/** One connection: its rates. It always ends with an error. */
async function* connect<N>(
  options: StreamOptions<N>,
  lastId: string,
): AsyncGenerator<ServerEvent, void, undefined> {
  const { transport, url, signal, onWarning } = options;
  const deadline = new Deadline(signal, SILENCE_MS_MAX);
  try {
    const headers = { accept: STREAM_TYPE, ...(lastId && { 'last-event-id': lastId }) };
    const response = await transport.send(url, { headers, cache: 'no-store' }, deadline);
    if (!response.ok) requireSuccess(response, await response.text());
    const type = response.headers.get('content-type') ?? STREAM_TYPE;
    if (!type.startsWith(STREAM_TYPE))
      throw unexpected(response, await response.text(), 'a stream of events');
    for await (const event of events(response.body!, deadline)) {
      if (event.event === 'rate') yield event;
      else if (event.event === 'warning') onWarning?.(JSON.parse(event.data).message);
      else if (event.event === 'end') {
        const body = JSON.parse(event.data);
        // When the service stops or the plan has changed, a new connection helps.
        throw errorOf(body.code === 'unavailable' ? 503 : 0, body);
      }
    }
  } catch (error) {
    throw error instanceof OpenpitError ? error : lostStream(error);
  } finally {
    deadline.end();
  }
  throw lostStream();
}

/** Parses server-sent events. An event that was cut off is dropped. The consumer of an event may take longer than the deadline. */
async function* events(
  body: ReadableStream<Uint8Array>,
  deadline: Deadline,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    deadline.extend();
    const { value, done } = await reader.read();
    deadline.pause();
    if (done) return;
    const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const event = { id: '', event: 'message', data: '' };
      for (const [, name, data] of block.matchAll(/^(id|event|data): ?(.*)$/gm)) {
        event[name as keyof ServerEvent] = data!;
      }
      if (event.data) yield event;
    }
  }
}

/** Which events were delivered. Ids of one process and plan end in a number that counts up. */
class SeenEvents {
  lastId = '';
  /** The last event of each symbol: another process sends it again, under another id. */
  readonly #last = new Map<string, string>();

  isNew(id: string, symbol: string, data: string): boolean {
    const [source, number] = split(id);
    const [lastSource, lastNumber] = split(this.lastId);
    if (source === lastSource && number <= lastNumber) return false;
    this.lastId = id;
    if (this.#last.get(symbol) === data) return false;
    this.#last.set(symbol, data);
    return true;
  }
}

function split(id: string): [source: string, number: number] {
  const at = id.lastIndexOf('-') + 1;
  return [id.slice(0, at), Number(id.slice(at))];
}

function canReconnect(error: unknown, waitSecondsMax: number): boolean {
  const { retryAfter } = error as Partial<OpenpitError>;
  if (retryAfter !== undefined) return retryAfter <= waitSecondsMax;
  return error instanceof ConnectionLost || error instanceof Unavailable;
}

function lostStream(cause?: unknown): ConnectionLost {
  return new ConnectionLost('The stream was lost.', { code: 'connection_lost', cause });
}
