/** A response body that many customers receive, encoded once. */
export interface SharedBody {
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  /** The tag of `plain`. */
  readonly etag: string;
}
