/** What `AbortSignal` has. Declared here so that the types need no DOM. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call. */
  signal?: CancelSignal | undefined;
  /** Timeout of one attempt, in ms. */
  timeoutMs?: number | undefined;
  /** Sent with the request. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** A request to a path that the client has no call for. */
export interface RequestOptions extends CallOptions {
  /** GET if omitted. Other requests may change something, so they are repeated only if the burst limit refused them. */
  method?: string | undefined;
  /** An object is sent as JSON; a string or a `Blob` is sent as it is. */
  body?: unknown;
}

/** A response that has arrived completely. Declared here so that the types need no DOM. */
export interface CompleteResponse {
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  json(): Promise<unknown>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Values of the query string. Lists are joined by commas; undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
