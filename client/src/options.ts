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
  /** How long one try may take, in ms. */
  timeoutMs?: number | undefined;
}

/** Values of the query string. Lists are joined by commas; undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
