import {
  createWriteStream,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  type WriteStream,
} from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { cleanUpOnSignal } from '../framework/clean-up.ts';

/** Where an export is written: a file, or standard output. It waits while the reader is slower. */
export interface Output {
  write(bytes: Uint8Array): Promise<void>;
  /** Completes the output. */
  end(): Promise<void>;
  /** Discards what was written, as far as that is possible. */
  abort(): Promise<void>;
}

/**
 * `-` is standard output. A file gets its name when it is complete; what is incomplete is removed, also by a signal. A device
 * or a pipe is written as it is, and of a link the file behind it is replaced.
 */
export function openOutput(name: string): Output {
  if (name === '-') return new StreamOutput(process.stdout);
  const existing = statSync(name, { throwIfNoEntry: false });
  if (existing === undefined) return new FileOutput(name);
  return existing.isFile() ? new FileOutput(realpathSync(name)) : new StreamOutput(createWriteStream(name));
}

class StreamOutput implements Output {
  readonly #stream: Writable;

  constructor(stream: Writable) {
    this.#stream = stream;
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
  readonly #onSignal: Disposable;

  constructor(name: string) {
    this.#name = name;
    this.#part = `${name}.part`;
    this.#stream = createWriteStream(this.#part, { fd: openSync(this.#part, 'w') });
    this.#onSignal = cleanUpOnSignal(() => this.#remove());
    this.#stream.on('error', () => {}); // reported by `write`
  }

  write(bytes: Uint8Array): Promise<void> {
    return write(this.#stream, bytes);
  }

  async end(): Promise<void> {
    this.#stream.end();
    await finished(this.#stream);
    renameSync(this.#part, this.#name);
    this.#onSignal[Symbol.dispose]();
  }

  async abort(): Promise<void> {
    this.#stream.destroy();
    this.#remove();
    this.#onSignal[Symbol.dispose]();
  }

  #remove(): void {
    rmSync(this.#part, { force: true });
  }
}

/** Resolves when the bytes are handed to the system, so that no more than these are in memory. */
function write(stream: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    // A stream that failed before says only that it is closed: its first error is the reason.
    stream.write(bytes, (error) => (error ? reject(stream.errored ?? error) : resolve()));
  });
}
