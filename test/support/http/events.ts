/** One event as received. */
export interface StreamEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** Reads a stream of server-sent events, one after the other. */
export class EventReader {
  readonly response: Response;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #leaving: AbortController;
  readonly #decoder = new TextDecoder();
  readonly #events: StreamEvent[] = [];
  /** Everything received, including comments. */
  text = '';
  #rest = '';

  private constructor(response: Response, leaving: AbortController) {
    this.response = response;
    this.#leaving = leaving;
    this.#chunks = response.body![Symbol.asyncIterator]();
  }

  static async open(url: string, headers: Record<string, string>): Promise<EventReader> {
    const leaving = new AbortController();
    return new EventReader(await fetch(url, { headers, signal: leaving.signal }), leaving);
  }

  /** The next event; undefined when the stream is over. */
  async next(): Promise<StreamEvent | undefined> {
    while (this.#events.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      const text = this.#decoder.decode(value, { stream: true });
      this.text += text;
      const blocks = (this.#rest + text).split('\n\n');
      this.#rest = blocks.pop()!;
      this.#events.push(...blocks.map(parse).filter((event) => event !== undefined));
    }
    return this.#events.shift();
  }

  async take(count: number): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (!event) throw new Error(`the stream ended after ${events.length} events`);
      events.push(event);
    }
    return events;
  }

  /** Disconnects, even while an event is awaited. */
  close(): void {
    this.#leaving.abort();
  }
}

function parse(block: string): StreamEvent | undefined {
  const fields = Object.fromEntries(
    block
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  if (fields.data === undefined) return undefined;
  return { id: fields.id ?? '', event: fields.event ?? 'message', data: JSON.parse(fields.data) };
}
