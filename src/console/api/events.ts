/** Reads server-sent events over fetch: unlike EventSource it can send the key in a header, so no URL contains it. */

export interface Listening {
  onEvent(event: string, data: string): void;
  /** Whether the stream is up. */
  onState(state: 'live' | 'lost'): void;
  /** The service refused or ended it; a retry would not help. */
  onEnd(status: number, message: string): void;
}

const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 15_000;

/** The service sends a comment every 8 s to keep the connection alive. */
const SILENCE_MS_MAX = 25_000;

/** Listens until the returned function is called. A lost connection is resumed where it stopped. */
export function listen(path: string, headers: Record<string, string>, to: Listening): () => void {
  const stopping = new AbortController();
  void run(path, headers, to, stopping.signal);
  return () => stopping.abort();
}

async function run(path: string, headers: Record<string, string>, to: Listening, stop: AbortSignal) {
  let lastId = '';
  for (let failures = 0; !stop.aborted; failures++) {
    const attempt = new AbortController();
    const signal = AbortSignal.any([stop, attempt.signal]);
    try {
      const withId = lastId === '' ? headers : { ...headers, 'last-event-id': lastId };
      const response = await fetch(path, { headers: withId, signal, cache: 'no-store' });
      if (!response.ok) {
        const body = (await response.json().catch(() => ({}))) as { message?: string; code?: string };
        const isFinal = response.status < 500 && body.code !== 'rate_limited';
        if (isFinal) return to.onEnd(response.status, body.message ?? '');
        throw new Error(body.message);
      }
      to.onState('live');
      await readAll(response, attempt, (event, data, id) => {
        failures = 0;
        if (id !== '') lastId = id;
        to.onEvent(event, data);
      });
    } catch {
      // Tried again below.
    }
    if (stop.aborted) return;
    to.onState('lost');
    await pause(Math.min(PAUSE_MS_MIN * 2 ** Math.min(failures, 10), PAUSE_MS_MAX), stop);
  }
}

async function readAll(
  response: Response,
  attempt: AbortController,
  take: (event: string, data: string, id: string) => void,
): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const silence = setTimeout(() => attempt.abort(), SILENCE_MS_MAX);
    const { value, done } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = fieldsOf(block);
      if (fields.data !== '') take(fields.event || 'message', fields.data, fields.id);
    }
  }
}

/** The fields of one event. A line that begins with a colon is a comment. */
export function fieldsOf(block: string): { event: string; data: string; id: string } {
  const fields = { event: '', data: '', id: '' };
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, '');
    const name = line.slice(0, colon);
    if (name === 'data') fields.data += fields.data === '' ? value : `\n${value}`;
    else if (name === 'event' || name === 'id') fields[name] = value;
  }
  return fields;
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
