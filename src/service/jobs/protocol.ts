import type {
  FeedDiagnosis,
  ImportRequest,
  ImportSummary,
  ServiceFinding,
} from '../../api/admin/service/operator-jobs.ts';
import type { Config } from '../../config.ts';
import type { Secrets } from '../../feeds/provider.ts';
import type { Actor } from '../../ledger/audit/entry.ts';
import type { ThreadError } from '../../runtime/threads/thread-error.ts';

/** A job for the worker. */
export type Job =
  | { kind: 'import'; request: ImportRequest; actor: Actor | undefined; now: number }
  | { kind: 'check' }
  | { kind: 'doctor'; config: Config }
  | { kind: 'probe'; feed: string; secrets: Secrets }
  | { kind: 'backup'; file: string };

/** The result of each kind of job. */
export interface JobResults {
  import: ImportSummary;
  check: readonly string[];
  doctor: readonly ServiceFinding[];
  probe: FeedDiagnosis;
  backup: number;
}

export interface JobMessage {
  ledgerUrl: string;
  job: Job;
}

/** `isRefused`: an uploaded file cannot be read; the operator can do something about it. */
export type JobReply = { ok: true; result: unknown } | { ok: false; error: ThreadError; isRefused: boolean };
