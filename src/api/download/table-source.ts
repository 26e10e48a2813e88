/** Provides the text of a table that is streamed. */
export interface TableSource {
  /** The units to charge before the first byte, in addition to any charged already. */
  units(): Promise<number>;
  /** The text from the beginning. Call it after `units`. */
  text(): AsyncGenerator<Uint8Array>;
  /** The whole text, if it is in memory, and otherwise undefined. Call it after `units`. The bytes never change. */
  ready?(): readonly Uint8Array[] | undefined;
  /** Called once the text is sent or no longer needed. */
  release(): Promise<void>;
}
