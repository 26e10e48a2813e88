import { createWriteStream, type WriteStream } from 'node:fs';
import { rename, unlink } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** Where an export is written: a file, or standard output. It waits while the reader is slower. */
export interface Output {
  write(bytes: Uint8Array): Promise<void>;
  /** Completes the output. */
  end(): Promise<void>;
  /** Discards what was written, as far as that is possible. */
  abort(): Promise<void>;
}

/** `-` is standard output. A file gets its name when it is complete. */
export function openOutput(name: string): Output {
  return name === '-' ? new StandardOutput() : new FileOutput(name);
}

class StandardOutput implements Output {
  readonly #stream = process.stdout;

  constructor() {
    this.#stream.on('error', () => {}); // reported by `write`
  }

  write(bytes: Uint8Array): Promise<void> {
    return write(this.#stream, bytes);
  }

  async end(): Promise<void> {}

  async abort(): Promise<void> {}
}

class FileOutput implements Output {
  readonly #name: string;
  readonly #part: string;
  readonly #stream: WriteStream;

  constructor(name: string) {
    this.#name = name;
    this.#part = `${name}.part`;
    this.#stream = createWriteStream(this.#part);
    this.#stream.on('error', () => {}); // reported by `write`
  }

  write(bytes: Uint8Array): Promise<void> {
    return write(this.#stream, bytes);
  }

  async end(): Promise<void> {
    this.#stream.end();
    await finished(this.#stream);
    await rename(this.#part, this.#name);
  }

  async abort(): Promise<void> {
    this.#stream.destroy();
    await finished(this.#stream).catch(() => {}); // a file that is still being opened appears only then
    await unlink(this.#part).catch(() => {});
  }
}

/** Resolves when the bytes are handed to the system, so that no more than these are in memory. */
function write(stream: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    // A stream that failed before says only that it is closed: its first error is the reason.
    stream.write(bytes, (error) => (error ? reject(stream.errored ?? error) : resolve()));
  });
}
