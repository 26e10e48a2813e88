import type { RunResult } from '../../feeds/run/run-record.ts';
import type { FeedRun, RunReport } from '../../ledger/operations/feed-runs.ts';
import { printLine } from '../framework/print-line.ts';

/** Reasons to print for each run; JSON has more. */
const REASONS_SHOWN = 5;

/** Prints the result of a run that has just ended. */
export function printRun(key: string, result: RunResult): void {
  if (result.status === 'unchanged') printLine(`${key}: nothing new since the last run`);
  if (result.status === 'ok' || result.status === 'partial') printLine(`${key}: ${countsOf(result)}`);
  if (result.status === 'partial') printLine(`  partial: ${result.message}`);
  printRemarks(result);
}

/** Prints a run of the past. */
export function printPastRun(run: FeedRun): void {
  printLine(`${time(run.started)}  ${run.feed} ${run.number}  ${run.status}  ${whatHappened(run)}`);
  printRemarks(run);
}

/** A time to the minute, in UTC. */
export function time(ms: number | undefined): string {
  return ms === undefined ? '-' : `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

function whatHappened(run: FeedRun): string {
  const isDone = run.status === 'partial' || run.status === 'ok';
  if (isDone && run.message !== undefined) return `${countsOf(run)}; ${run.message}`;
  return run.message ?? countsOf(run);
}

function printRemarks(report: RunReport): void {
  for (const line of [...reasonsOf(report), ...notesOf(report)]) printLine(line);
}

function countsOf({ taken, corrected, unchanged, missing, refused, held, withdrawn }: RunReport): string {
  return `${taken} taken, ${corrected} corrected, ${unchanged} unchanged, ${withdrawn} withdrawn, ${missing} without a value, ${refused} refused, ${held} held back`;
}

function reasonsOf({ reasons, refused }: RunReport): string[] {
  const lines = reasons.slice(0, REASONS_SHOWN).map(({ where, reason }) => `  ${where} refused: ${reason}`);
  return refused > lines.length && lines.length > 0
    ? [...lines, `  … and ${refused - lines.length} more`]
    : lines;
}

const NOTE_LABELS = {
  failed: 'failed',
  held: 'held back',
  withdrawn: 'withdrawn',
  odd: 'accepted, but unusual',
  ignored: 'ignored',
  elsewhere: '',
};

function notesOf({ notes, odd, ignored, held, withdrawn }: RunReport): string[] {
  const shown = notes.filter((note) => note.kind === 'elsewhere');
  const remarks = notes
    .filter((note) => note.kind !== 'elsewhere' && note.kind !== 'failed')
    .slice(0, REASONS_SHOWN);
  const lines = [...shown, ...remarks].map(({ kind, where, reason }) =>
    kind === 'elsewhere' ? `  ${where} ${reason}` : `  ${where} ${NOTE_LABELS[kind]}: ${reason}`,
  );
  const more = odd + ignored + held + withdrawn - remarks.length;
  return more > 0 ? [...lines, `  … and ${more} more held back, withdrawn, unusual or ignored`] : lines;
}
