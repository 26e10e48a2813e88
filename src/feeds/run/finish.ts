import { LeaseLost, type SeriesFailure } from '../../ledger/operations/feed-runs.ts';
import type { FilledSymbols } from '../../ledger/operations/filled-symbols.ts';
import type { FetchFailure } from '../fetch/http-client.ts';
import type { ProviderData } from '../fetch/provider-data.ts';
import { lateAfter, nextSlot, retryAt } from '../schedule.ts';
import { bodiesToKeep } from './absent-series.ts';
import type { RunContext } from './context.ts';
import { coverageOf } from './coverage.ts';
import type { RunResult } from './run-record.ts';

export interface Success {
  how: 'ok' | 'unchanged';
  fetched: ProviderData;
  /** Whether all history was requested. */
  isFull: boolean;
  /** Suspect series, not published until the operator accepts them. */
  held: readonly SeriesFailure[];
  /** The symbols that the run could fill; undefined if the data is from an archive. */
  filled: FilledSymbols | undefined;
  /** The edition, if the data is from an archive. */
  edition: string | undefined;
}

/** Ends a run that succeeded for all series or for some. */
export async function succeed(
  run: RunContext,
  { how, fetched, isFull, held, filled, edition }: Success,
): Promise<RunResult> {
  const { provider, parts, lease, record } = run;
  const { ledger, runtime } = parts;
  const now = runtime.now();
  const failing = [
    ...fetched.failed,
    ...held.map(({ series, reason }) => ({ series, reason: `held: ${reason}` })),
  ];
  record.note(
    'failed',
    failing.map(({ series, reason }) => ({ where: series, reason })),
  );
  const total = provider.series.length;
  const report =
    failing.length === 0
      ? record.result(how, edition && `from the bundled edition of ${edition}`)
      : record.result('partial', describeMissing(fetched.failed, held, total));
  await ledger.feeds.finish(lease, {
    ended: now,
    report,
    nextRun: shouldRetry(run, fetched)
      ? retryAt(provider, now, 1, fetched.retry?.comeBackMs ?? 0, runtime.random())
      : nextSlot(provider, now),
    lateAt: lateAfter(provider, now),
    isFull,
    bodies: bodiesToKeep(fetched.bodies, failing),
    failing: record.cleanFailures(failing),
    ...(filled && { filled }),
    ...(how === 'ok' ? { coverage: await coverageOf(run) } : {}),
  });
  return report;
}

/** No early retry: suspect data will still be suspect in an hour. */
export function quarantine(run: RunContext, reason: string): Promise<RunResult> {
  return end(run, 'quarantined', reason, nextSlot(run.provider, run.parts.runtime.now()));
}

export function fail(run: RunContext, { reason, comeBackMs = 0 }: FetchFailure): Promise<RunResult> {
  const { provider, parts, lease } = run;
  const { runtime, signal } = parts;
  const now = runtime.now();
  if (signal.aborted) return end(run, 'failed', reason, now); // stays due for the next runner
  return end(run, 'failed', reason, retryAt(provider, now, lease.failures + 1, comeBackMs, runtime.random()));
}

async function end(
  { parts, lease, record }: RunContext,
  status: 'failed' | 'quarantined',
  reason: string,
  nextRun: number,
): Promise<RunResult> {
  const { ledger, runtime } = parts;
  const result = record.result(status, reason);
  try {
    await ledger.feeds.finish(lease, { ended: runtime.now(), report: result, nextRun });
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
  }
  return result;
}

/** Retries early only once: a series that has failed for days waits for the scheduled runs. */
function shouldRetry({ lease }: RunContext, { retry, failed }: ProviderData): boolean {
  const known = new Set(lease.failing.map(({ series }) => series));
  return retry !== undefined && failed.some(({ series }) => !known.has(series));
}

function describeMissing(
  failed: readonly SeriesFailure[],
  held: readonly SeriesFailure[],
  total: number,
): string {
  const describe = (some: readonly SeriesFailure[], what: string) =>
    some.length === 0
      ? []
      : `${some.length} of ${total} series ${what}: ${some.map(({ series, reason }) => `${series}: ${reason}`).join('; ')}`;
  return [describe(failed, 'failed'), describe(held, 'held')].flat().join('; ');
}
