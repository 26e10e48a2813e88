import type { UnsentBody } from './byte-writer.ts';
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

/** A success before it is encoded. */
export interface Answer {
  content: Content;
  finality: Finality;
  /** The cursor of the next page. */
  next?: string | undefined;
  /** What the client should know about its request, in the member `warnings` of JSON. */
  warnings?: readonly string[];
}

/** What an answer says, in the requested format: JSON, or flat rows. A long table is written while it is sent. */
export type Content = JsonText | UnsentBody | FlatTable | LongTable;

export interface JsonText {
  json: string;
  /** The length of its beginning that differs in every response (a timestamp). The entity tag does not cover it. */
  untaggedLength?: number;
}

/** A JSON answer that is tagged before it is built. Building it cannot be refused any more. */
export interface LargeAnswer {
  warnings?: readonly string[];
  /** Identifies the content: the query and a digest of the prices. Equal on every replica. */
  state: string;
  finality: Finality;
  /** The cursor of the next page. */
  next?: string | undefined;
}
