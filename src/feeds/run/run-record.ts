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

/** So many of the refused, and of each kind of note, are kept with their reasons. */
const REASONS_KEPT = 50;
/** Texts longer than this tell no more. */
const REASON_LENGTH_MAX = 200;
const MESSAGE_LENGTH_MAX = 500;

/** What a run has to say for itself, without secrets, and no longer than is of use. */
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

  /** FetchFailures of series as they are stored: without secrets, and no longer than is of use. */
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

  /** It may repeat what a provider sent: PostgreSQL keeps no NUL, and a terminal obeys escapes. */
  #text(text: string, lengthMax: number): string {
    return withoutSecrets(text, this.#secrets)
      .replace(/\p{Cc}+/gu, ' ')
      .slice(0, lengthMax);
  }
}

/** Of a run that has brought nothing so far: until it ends well, it has failed. */
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
