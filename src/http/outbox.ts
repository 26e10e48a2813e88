import type { Socket } from 'bun';

/** The part of a stream's reader that is used here. */
interface Reader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
}

/** What is to be sent: written at once as far as the client takes it, and kept for later beyond that. */
export class Outbox {
  readonly #socket: Pick<Socket<unknown>, 'write'>;
  #unsent: Uint8Array[] = [];
  #onTaken: PromiseWithResolvers<void> | undefined;
  isClosed = false;

  constructor(socket: Pick<Socket<unknown>, 'write'>) {
    this.#socket = socket;
  }

  get isEmpty(): boolean {
    return this.#unsent.length === 0;
  }

  /** `bytes` may be used again by the caller: what cannot be sent now is copied. */
  write(bytes: Uint8Array): void {
    if (this.isClosed) return;
    const sent = this.isEmpty ? this.#socket.write(bytes) : 0;
    if (sent < bytes.length) this.#unsent.push(bytes.slice(Math.max(0, sent)));
  }

  /** Writes a stream as it comes, and no faster than the client takes it. `onStuck` hears when it must wait, and when no more. */
  async pipe(reader: Reader, isChunked: boolean, onStuck: (isStuck: boolean) => void): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !value || this.isClosed) break;
      if (value.length === 0) continue; // an empty chunk would be the last
      this.write(isChunked ? chunk(value) : value);
      if (this.isEmpty) continue;
      onStuck(true);
      await this.#taken();
      onStuck(false);
    }
    if (isChunked) this.write(LAST_CHUNK);
  }

  /** Sends what waits. True when nothing does any more. */
  flush(): boolean {
    while (this.#unsent.length > 0) {
      const first = this.#unsent[0]!;
      const sent = this.#socket.write(first);
      if (sent < first.length) {
        this.#unsent[0] = first.subarray(Math.max(0, sent));
        return false;
      }
      this.#unsent.shift();
    }
    this.#onTaken?.resolve();
    this.#onTaken = undefined;
    return true;
  }

  /** When the client has taken everything, or is gone. */
  #taken(): Promise<void> {
    if (this.isEmpty || this.isClosed) return Promise.resolve();
    this.#onTaken ??= Promise.withResolvers();
    return this.#onTaken.promise;
  }

  close(): void {
    this.isClosed = true;
    this.#unsent = [];
    this.#onTaken?.resolve();
  }
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}
