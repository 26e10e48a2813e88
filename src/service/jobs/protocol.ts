import type { ImportRequest, ImportSummary } from '../../api/admin/service/operator-jobs.ts';
import type { Actor } from '../../ledger/audit/entry.ts';

/** A job for the worker. */
export type Job =
  | { kind: 'import'; request: ImportRequest; actor: Actor | undefined; now: number }
  | { kind: 'check' }
  | { kind: 'backup'; file: string };

/** The result of each kind of job. */
export interface JobResults {
  import: ImportSummary;
  check: readonly string[];
  backup: number;
}

export interface JobMessage {
  ledgerUrl: string;
  job: Job;
}

/** `isRefused`: an uploaded file cannot be read; the operator can do something about it. */
export type JobReply = { ok: true; result: unknown } | { ok: false; message: string; isRefused: boolean };
