import type { ByteWriter } from './byte-writer.ts';
import type { LongTable } from './long-table.ts';
import type { FlatTable } from './table.ts';

/** How an answer may change: at any moment, by a correction alone, or never again. */
export type Finality = 'open' | 'closed' | 'final';

/** Closed days change only by a correction; anything that holds today may change at once. */
export const CACHE_CONTROL: Readonly<Record<Finality, string>> = {
  open: 'private, no-cache',
  closed: 'private, max-age=60',
  final: 'private, max-age=86400',
};

/**
 * A success, before it is written down: as JSON in the shape of the interface, or as flat rows. An endpoint may leave out
 * the form that the request does not ask for.
 */
export interface Answer {
  /** Where it begins with what changes from answer to answer (a timestamp), it says where the content begins. */
  json?(writer: ByteWriter): void;
  /** A long one is streamed. */
  table?(): FlatTable | LongTable;
  finality: Finality;
  /** Where the next page of it begins. */
  next?: string | undefined;
}

/** A response in JSON that is tagged before it is built. All that could refuse it has been checked. */
export interface LargeAnswer {
  /** Names all that the content follows from: the query, and a digest of the prices. Equal on every replica. */
  state: string;
  finality: Finality;
  /** Where the next page begins. */
  next?: string | undefined;
  /** Builds it from prices that do not change, yielding to other requests. */
  build(): Promise<Answer>;
}
