import { systemRuntime } from '../../feeds/fetch/runtime.ts';
import type { Provider, Secrets } from '../../feeds/provider.ts';
import type { RunnerParts } from '../../feeds/run/context.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { RunReport } from '../../ledger/operations/feed-runs.ts';
import { systemClock } from '../../runtime/clock.ts';
import { processName } from '../../runtime/process-name.ts';
import { type Progress, progressBar } from '../framework/progress.ts';

/** What a command needs to run feeds in its own process. A signal stops them. */
export function ownRunnerParts(
  ledger: Ledger,
  providers: readonly Provider[],
  secrets: Secrets,
): RunnerParts {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  return {
    ledger,
    providers,
    secrets,
    runtime: systemRuntime(systemClock),
    holder: `${processName()} ${crypto.randomUUID()}`,
    signal: stop.signal,
  };
}

/** Shows how far runs are, with a bar for one stage after the other. */
export function stageProgress(): (stage: string, done: number, total: number) => void {
  let shown: { stage: string; bar: Progress } | undefined;
  return (stage, done, total) => {
    if (shown?.stage !== stage) shown = { stage, bar: progressBar(stage, total) };
    if (done < total) shown.bar.done(done);
    else shown.bar.end();
  };
}

export function hasSucceeded(status: RunReport['status']): boolean {
  return status === 'ok' || status === 'unchanged' || status === 'partial';
}
