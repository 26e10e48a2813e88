import type { ByteWriter } from './byte-writer.ts';
import type { LongTable } from './long-table.ts';
import type { FlatTable } from './table.ts';

/**
 * Whether an answer can change: with every second, at any moment, only by a correction, or never. A live answer has the time
 * of the response in it, which a browser's cache would freeze.
 */
export type Finality = 'live' | 'open' | 'closed' | 'final';

export const CACHE_CONTROL: Readonly<Record<Finality, string>> = {
  live: 'no-store',
  open: 'private, no-cache',
  closed: 'private, max-age=60',
  final: 'private, max-age=86400',
};

/**
 * A success before it is encoded, as JSON or as flat rows. An endpoint may omit the form that the request does not need.
 */
export interface Answer {
  /** Calls `beginContent` after a part that differs in every response (a timestamp). */
  json?(writer: ByteWriter): void;
  /** A `LongTable` is streamed. */
  table?(): FlatTable | LongTable;
  finality: Finality;
  /** The cursor of the next page. */
  next?: string | undefined;
}

/** A JSON answer that is tagged before it is built. Building it cannot be refused any more. */
export interface LargeAnswer {
  /** Identifies the content: the query and a digest of the prices. Equal on every replica. */
  state: string;
  finality: Finality;
  /** The cursor of the next page. */
  next?: string | undefined;
  /** Builds it from a snapshot of the prices, yielding to other requests. */
  build(): Promise<Answer>;
}
