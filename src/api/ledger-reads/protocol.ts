import type { CountedEndpoint } from '../../gate/endpoints.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import type { Finality } from '../model/answer.ts';
import type { FlatColumn, TextFormat } from '../model/table.ts';
import type { Dialect } from '../versions/dialects.ts';
import type { PackedError } from './packed-error.ts';

export interface ReaderSettings {
  ledgerUrl: string;
  /** Standbys that may be read in place of the primary. */
  standbyUrl: string | undefined;
  /** Whether symbols without real prices show simulated ones. */
  simulated: boolean;
}

/** A request that reads the ledger. The serving thread has already validated its parameters. */
export interface LedgerRequest {
  endpoint: CountedEndpoint;
  /** The query string, still encoded. */
  query: string;
  plan: Plan;
  now: number;
  /** The plan sees the market as it was at this time, in ms. */
  horizon: number;
  /** Rows for Parquet are read as NDJSON. */
  format: 'json' | TextFormat;
  dialect: Dialect;
  gzip: boolean;
  known: FollowedState;
  /** About parameters that have no effect. */
  warnings: readonly string[];
  /** Where the page starts, in place of the query's own cursor. */
  cursor?: string | undefined;
  /** The ledger's price revision at which the first page of the table was read. */
  since?: number | undefined;
}

/** How far the serving process has followed the ledger. A standby behind it may lack data that a client has already seen. */
export interface FollowedState {
  epoch: string;
  /** Price revision that a server must have reached to answer for the present. */
  revision: number;
  /** Price revision that a server must have reached to know all symbols. */
  catalogRevision: number;
}

/** The response. `packet` has headroom for the response head in front of the body. */
export interface LedgerResponse {
  packet: Uint8Array<ArrayBuffer>;
  length: number;
  contentFrom: number;
  type: string;
  gzipped: Uint8Array<ArrayBuffer> | undefined;
  finality: Finality;
  /** Cursor of the next page. */
  next: string | undefined;
  /** About the answer. In JSON, they are also in the body. */
  warnings: readonly string[];
  /** The columns of a table; none for JSON. */
  columns: readonly FlatColumn[];
  /** Number of table rows, or of cells if the table is wide; 0 for JSON. */
  rows: number;
  /** Whether it has one column per symbol. */
  isWide: boolean;
  /** The ledger's price revision when the read started. */
  revision: number;
  /** For the first page of a table: the horizon, if the ledger has prices that are visible only later. */
  hiddenAfter: number | undefined;
  isFromStandby: boolean;
  /** Whether prices of these symbols have changed since `since`, or since the read started. */
  isChanged: boolean;
}

export type ToReader =
  | { kind: 'start'; settings: ReaderSettings }
  | { kind: 'read'; request: LedgerRequest }
  | { kind: 'stop' };

export type FromReader =
  | { kind: 'response'; response: LedgerResponse }
  | { kind: 'failed'; error: PackedError }
  /** The ledger is closed. */
  | { kind: 'stopped' };
