import { appendFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';

const FLUSH_MS = 1_000;
const CLOSE_MS_MAX = 1_000;
const FLUSH_CHARS = 64 * 1024;
/** When a slow or full disk lets more than this accumulate, lines are dropped and counted: a log must not exhaust memory. */
const BUFFERED_CHARS_MAX = 8 * 1024 * 1024;

export type AccessLogEntry = Readonly<Record<string, string | number | undefined>>;

export interface AccessLogOptions {
  /** A file, or `-` for standard output. */
  path: string;
  clock: Clock;
  /** Called once when the file cannot be written, and again only after it could be. */
  onError(error: unknown): void;
}

/**
 * Writes one line of JSON per request, once a second or every 64 KB. The file is opened for each write, so renaming it
 * rotates it. Several processes can share it, because every write appends whole lines, to a pipe in small pieces.
 */
export class AccessLog {
  readonly #options: AccessLogOptions;
  #text = '';
  #writing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isFailing = false;
  /** The number of dropped lines. */
  dropped = 0;

  constructor(options: AccessLogOptions) {
    this.#options = options;
  }

  write(entry: AccessLogEntry): void {
    if (this.#text.length > BUFFERED_CHARS_MAX) {
      this.dropped++;
      return;
    }
    const time = new Date(this.#options.clock.now()).toISOString();
    this.#text += `${JSON.stringify({ time, ...entry })}\n`;
    if (this.#text.length > FLUSH_CHARS) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
  }

  /** Writes the buffered lines. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#writing) await this.#writing;
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#writing = this.#append(text);
    await this.#writing;
  }

  /** Writes the buffered lines if the disk, or the reader of standard output, takes them soon: a stop does not wait for longer. */
  async close(): Promise<void> {
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, CLOSE_MS_MAX);
    await Promise.race([this.flush(), limit.promise]);
    clearTimeout(timer);
  }

  async #append(text: string): Promise<void> {
    const { path, onError } = this.#options;
    try {
      if (path === '-') for (const lines of atomicWrites(text)) await Bun.write(Bun.stdout, lines);
      else await appendFile(path, text, { mode: 0o600 });
      this.#isFailing = false;
    } catch (error) {
      this.dropped += text.split('\n').length - 1;
      if (!this.#isFailing) onError(error);
      this.#isFailing = true;
    } finally {
      this.#writing = undefined;
    }
  }
}

/** What a pipe takes from one process at once, without mixing it with the lines of others: PIPE_BUF of Linux. */
const PIPE_BYTES_MAX = 4_096;

/** Splits lines into pieces of whole lines that a pipe takes at once. A longer line is a piece of its own. */
function* atomicWrites(text: string): Generator<string> {
  let piece = '';
  let bytes = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const more = Buffer.byteLength(line);
    if (piece !== '' && bytes + more > PIPE_BYTES_MAX) {
      yield piece;
      [piece, bytes] = ['', 0];
    }
    piece += line;
    bytes += more;
  }
  yield piece;
}
