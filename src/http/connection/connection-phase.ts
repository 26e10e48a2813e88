import type { ServerState } from './connection-options.ts';
import { type ConnectionState, secondsMax } from './limits.ts';

/** The state of a connection, and since when. */
export class ConnectionPhase {
  readonly #server: ServerState;
  #state: ConnectionState = 'new';
  #since: number;

  constructor(server: ServerState) {
    this.#server = server;
    this.#since = server.second;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** The second in which the connection entered its state, or in which the client last read a part of its response. */
  get since(): number {
    return this.#since;
  }

  /** Enters a state, or restarts the time limit of the current one. */
  enter(state: ConnectionState): void {
    this.#state = state;
    this.#since = this.#server.second;
  }

  /** Whether the next request may be read. */
  get isReadable(): boolean {
    return this.#state === 'idle' || this.#state === 'new' || this.#state === 'head';
  }

  /** Whether a request has to wait for the response before it. */
  get isBusy(): boolean {
    return this.#state === 'handling' || this.#state === 'blocked';
  }

  isOverdue(bodyLength: number): boolean {
    return this.#server.second - this.#since > secondsMax(this.#state, bodyLength);
  }
}
