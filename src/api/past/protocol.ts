import type { CountedEndpoint } from '../../gate/endpoints.ts';
import type { Plan } from '../../ledger/accounts/accounts.ts';
import type { ErrorCode } from '../errors/errors.ts';
import type { Lasting } from '../model/endpoint.ts';
import type { Format } from '../model/table.ts';

export interface ReaderSettings {
  ledgerUrl: string;
  /** Standbys that may be read in place of the primary. */
  standbyUrl: string | undefined;
  /** Whether symbols without real prices show simulated ones. */
  simulated: boolean;
}

/** A request that has to read the ledger. The serving thread has already checked its parameters. */
export interface LedgerRequest {
  endpoint: CountedEndpoint;
  /** The query string, still encoded. */
  query: string;
  plan: Plan;
  now: number;
  /** What the plan can see now was there at this moment, in ms. */
  horizon: number;
  format: Format;
  gzip: boolean;
  known: KnownState;
  /** Where the page begins, if not where the query says. */
  cursor?: string | undefined;
  /** The ledger's price revision when the first page of the table was read. */
  since?: number | undefined;
}

/** What the serving process has seen of the ledger. A standby that has seen less may lack something that a client was shown. */
export interface KnownState {
  epoch: string;
  /** Price revision up to which a server must have come for a response about the present. */
  revision: number;
  /** The same for the symbols of any response. */
  catalogRevision: number;
}

/** The response, with room for its head in front of the body. */
export interface LedgerResponse {
  packet: Uint8Array<ArrayBuffer>;
  length: number;
  contentFrom: number;
  type: string;
  gzipped: Uint8Array<ArrayBuffer> | undefined;
  lasting: Lasting;
  /** Where the next page begins. */
  next: string | undefined;
  /** How many rows a table has. */
  rows: number;
  /** The ledger's price revision when reading began. */
  revision: number;
  isFromStandby: boolean;
  /** Whether prices that this table shows have changed since `since`, or since reading began. */
  isChanged: boolean;
}

/** An error between threads, where its class gets lost. */
export type PackedError =
  | { kind: 'refusal'; code: ErrorCode; status: number; message: string; retryAfterSeconds?: number }
  | { kind: 'error'; message: string; stack?: string; code?: string; errno?: string };

export type ToReader =
  | { kind: 'start'; settings: ReaderSettings }
  | { kind: 'read'; request: LedgerRequest }
  | { kind: 'stop' };

export type FromReader =
  | { kind: 'response'; response: LedgerResponse }
  | { kind: 'failed'; error: PackedError }
  /** The ledger is closed. */
  | { kind: 'stopped' };
