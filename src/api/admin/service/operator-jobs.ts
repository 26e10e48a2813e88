import type { Actor } from '../../../ledger/audit/entry.ts';

/** A file of prices to import, or to preview. */
export interface ImportRequest {
  bytes: Uint8Array;
  /** The name of the file, for the record of the import. */
  name: string;
  /** The symbol of all rows; undefined if a column has it. */
  symbol: string | undefined;
  source: string;
  columns: { symbol?: string; date?: string; value?: string; ohlc?: [string, string, string, string] };
  dateOrder?: 'dmy' | 'mdy' | undefined;
  decimal?: 'comma' | 'point' | undefined;
  /** The sheet of a workbook, or the file in a zip. */
  part?: string | undefined;
  zone?: string | undefined;
  accept: boolean;
  dryRun: boolean;
}

export interface RemarkedLine {
  line: number;
  reason: string;
}

/** One bar of a preview, and its outcome. */
export interface PreviewBar {
  symbol: string;
  date: string;
  open: number;
  high: number;
  low: number;
  close: number;
  line: number;
  outcome: 'taken' | 'corrected' | 'unchanged' | 'held';
}

/** What an import did, or would do. */
export interface ImportSummary {
  symbols: readonly string[];
  /** The number for undoing it; null after a dry run. */
  run: number | null;
  taken: number;
  corrected: number;
  unchanged: number;
  missing: number;
  refused: number;
  held: number;
  odd: number;
  /** The first lines of each kind, and why. */
  refusedLines: readonly RemarkedLine[];
  heldLines: readonly RemarkedLine[];
  oddLines: readonly RemarkedLine[];
  /** The first bars of a dry run; empty otherwise. */
  bars: readonly PreviewBar[];
}

/** A provider's response compared with what is expected. `changed`: it differs. */
export interface FeedDiagnosis {
  verdict: 'ok' | 'unreachable' | 'gone' | 'refused' | 'changed';
  /** The address that was tried, or where it went wrong, without secrets. */
  url: string;
  found: readonly string[];
  /** What to change; empty if nothing. */
  advice: readonly string[];
}

/** The result of one check of the service. */
export interface ServiceFinding {
  /** A stable name such as `disk.room`. */
  check: string;
  status: 'ok' | 'warning' | 'problem';
  message: string;
  /** What to do about it. */
  fix?: string;
}

export interface BackupFile {
  name: string;
  bytes: number;
}

/** A job that cannot be done now; the message says why and what to do. */
export class JobRefused extends Error {}

/** A file that cannot be read as it was described. */
export class UploadRefused extends JobRefused {}

/** Work for the operator that takes too long for a request's thread. One job runs at a time. */
export interface OperatorJobs {
  importFile(request: ImportRequest, actor: Actor | undefined, now: number): Promise<ImportSummary>;
  /** What does not add up in the ledger. */
  check(): Promise<readonly string[]>;
  /** Checks settings, ledger, clock, disk, feeds, keys and limits, as `openpit doctor` does. */
  examine(): Promise<readonly ServiceFinding[]>;
  /** Tries what a run of the feed would request. Writes nothing. */
  probeFeed(key: string): Promise<FeedDiagnosis>;
  /** Copies the ledger to a file in the folder of backups. */
  backup(now: number): Promise<BackupFile>;
  backups(): readonly BackupFile[];
  /** False if there is no such backup. */
  deleteBackup(name: string): boolean;
}
