/** What a handler sees of a request. The standard `Request` satisfies it, except for its absolute URL. */
export interface IncomingRequest {
  readonly method: string;
  /** Path and query, still encoded. */
  readonly url: string;
  readonly headers: {
    /** The value of a header by its lower-case name. Several values are joined by commas. */
    get(name: string): string | null;
    has(name: string): boolean;
  };
  /** Whether it is HTTP/1.0, which has no chunked bodies. */
  readonly isHttp10?: boolean;
  /** Reads the body. Until the first call, the server does not wait for it. */
  bytes(): Promise<Uint8Array>;
}
