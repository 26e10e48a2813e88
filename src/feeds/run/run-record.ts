import type {
  FeedLease,
  Note,
  RefusedValue,
  RunReport,
  SeriesFailure,
} from '../../ledger/operations/feed-runs.ts';
import { withoutSecrets } from '../fetch/redact.ts';
import type { Secrets } from '../provider.ts';

export interface RunResult extends RunReport {
  feed: string;
  number: number;
}

/** How many refusals, and how many notes of each kind, are stored with their reasons. */
const REASONS_KEPT = 50;
const REASON_LENGTH_MAX = 200;
const MESSAGE_LENGTH_MAX = 500;

/** The report of a run, without secrets and of bounded length. */
export class RunRecord {
  readonly #lease: FeedLease;
  readonly #secrets: Secrets;
  readonly #report = newReport();

  constructor(lease: FeedLease, secrets: Secrets) {
    this.#lease = lease;
    this.#secrets = secrets;
  }

  get refused(): number {
    return this.#report.refused;
  }

  set(counts: Partial<Omit<RunReport, 'status' | 'message' | 'reasons' | 'notes'>>): void {
    Object.assign(this.#report, counts);
  }

  refuse(refused: readonly RefusedValue[]): void {
    this.#report.refused = refused.length;
    this.#report.reasons = refused.slice(0, REASONS_KEPT).map((one) => this.#clean(one));
  }

  note(kind: Note['kind'], remarks: readonly RefusedValue[]): void {
    if (kind !== 'elsewhere' && kind !== 'failed') this.#report[kind] = remarks.length;
    for (const one of remarks.slice(0, REASONS_KEPT)) this.#report.notes.push({ kind, ...this.#clean(one) });
  }

  /** Failures as they are stored: without secrets and of bounded length. */
  cleanFailures(failures: readonly SeriesFailure[]): SeriesFailure[] {
    return failures.map(({ series, reason }) => ({ series, reason: this.#text(reason, REASON_LENGTH_MAX) }));
  }

  result(status: RunReport['status'], message: string | undefined): RunResult {
    const { feed, number } = this.#lease;
    const clean = message && this.#text(message, MESSAGE_LENGTH_MAX);
    return { ...this.#report, status, message: clean, feed, number };
  }

  #clean({ where, reason }: RefusedValue): RefusedValue {
    return { where: this.#text(where, REASON_LENGTH_MAX), reason: this.#text(reason, REASON_LENGTH_MAX) };
  }

  /** Removes control characters, which a provider may have sent: PostgreSQL rejects NUL, and terminals interpret escapes. */
  #text(text: string, lengthMax: number): string {
    return withoutSecrets(text, this.#secrets)
      .replace(/\p{Cc}+/gu, ' ')
      .slice(0, lengthMax);
  }
}

/** The report of a new run. Its status is `failed` until it succeeds. */
export function newReport(): RunReport {
  return {
    status: 'failed',
    message: undefined,
    bodyHash: undefined,
    bytes: 0,
    requests: 0,
    taken: 0,
    corrected: 0,
    unchanged: 0,
    missing: 0,
    refused: 0,
    reasons: [],
    odd: 0,
    ignored: 0,
    held: 0,
    withdrawn: 0,
    notes: [],
  };
}
