import type { NewBar } from '../../ledger/prices/bars.ts';
import type { PublishResult } from '../../ledger/prices/publish-bars.ts';
import type { Judgement } from '../../ledger/quarantine/judge-bars.ts';
import { leaseGuard, type RunContext, runName } from './context.ts';
import type { WithdrawnDay } from './withdrawn-days.ts';

/** Publishes the bars of a run, and settles held bars that they confirm or replace. */
export async function publish(
  run: RunContext,
  bars: readonly NewBar[],
  onProgress: (done: number) => void,
): Promise<PublishResult> {
  const { ledger, runtime } = run.parts;
  const source = run.provider.key;
  const recordedAt = runtime.now();
  const publication = {
    source,
    recordedAt,
    reason: runName(run),
    comparedWith: 'own',
    before: leaseGuard(run),
  } as const;
  const result = await ledger.bars.publish(bars, publication, onProgress);
  await ledger.heldBars.settle(bars, source, recordedAt);
  return result;
}

/** Puts suspect bars into quarantine. */
export async function hold(run: RunContext, held: Judgement<NewBar>['held']): Promise<void> {
  const { ledger, runtime } = run.parts;
  await ledger.heldBars.hold(held, {
    source: run.provider.key,
    origin: runName(run),
    received: runtime.now(),
    before: leaseGuard(run),
  });
}

export async function withdraw(run: RunContext, days: readonly WithdrawnDay[]): Promise<void> {
  const { ledger, runtime } = run.parts;
  await ledger.withdrawals.withdraw(days, {
    by: 'source',
    source: run.provider.key,
    reason: `${runName(run)}: not in the provider's new edition`,
    recordedAt: runtime.now(),
    before: leaseGuard(run),
  });
}
