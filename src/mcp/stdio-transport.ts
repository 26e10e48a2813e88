import { PassThrough } from 'node:stream';
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** Longer than a request to a server takes at most. Subscriptions, which last as long as the connection, are not waited for. */
const ANSWERED_WITHIN_MS = 60_000;

/**
 * Standard input and output. The SDK's own transport ends with standard input, without answering requests in progress; this one
 * ends its input once they are answered.
 */
export class StdioTransport implements Transport {
  readonly #input = new PassThrough();
  readonly #wire = new StdioServerTransport(this.#input);
  readonly #pending = new Set<RequestId>();
  #isInputOver = false;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when no more messages are exchanged. */
  readonly closed: Promise<void>;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport['onmessage'];

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#wire.onclose = () => {
      clearTimeout(this.#waiting);
      process.stdin.off('data', this.#onInput).off('end', this.#onInputOver).off('close', this.#onInputOver);
      process.stdin.pause();
      this.onclose?.();
      resolve();
    };
    this.#wire.onerror = (error) => this.onerror?.(error);
    this.#wire.onmessage = (message: JSONRPCMessage) => {
      if (isJSONRPCRequest(message)) this.#pending.add(message.id);
      const cancelled = cancelledBy(message);
      if (cancelled !== undefined) this.#pending.delete(cancelled);
      this.onmessage?.(message);
    };
  }

  async start(): Promise<void> {
    await this.#wire.start();
    process.stdin.on('data', this.#onInput).once('end', this.#onInputOver).once('close', this.#onInputOver);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    try {
      await this.#wire.send(message);
    } finally {
      if (!('method' in message) && message.id !== undefined) this.#pending.delete(message.id);
      this.#endIfAnswered();
    }
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  readonly #onInput = (bytes: Uint8Array): void => void this.#input.write(bytes);

  /** The last messages are parsed before the next turn of the event loop. */
  readonly #onInputOver = (): void => {
    if (this.#waiting) return;
    this.#waiting = setTimeout(() => this.#input.end(), ANSWERED_WITHIN_MS);
    setImmediate(() => {
      this.#isInputOver = true;
      this.#endIfAnswered();
    });
  };

  #endIfAnswered(): void {
    if (this.#isInputOver && this.#pending.size === 0) this.#input.end();
  }
}

/** A cancelled request gets no response. */
function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  return message.params?.requestId as RequestId | undefined;
}
