/** A request, as far as anybody looks at it. The standard `Request` is one too. */
export interface IncomingRequest {
  readonly method: string;
  /** Path and query, still encoded. */
  readonly url: string;
  readonly headers: {
    /** The value of a header, by its name in lower case; several are joined by commas. */
    get(name: string): string | null;
    has(name: string): boolean;
  };
  /** Whether it is HTTP/1.0, which has no chunked bodies. */
  readonly isHttp10?: boolean;
  /** Reads the body. It is not read, and not waited for, until somebody asks. */
  text(): Promise<string>;
}
