import type { Sql } from '../../ledger/engine/rows.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { FeedLease } from '../../ledger/operations/feed-runs.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { FetchLimits } from '../fetch/http-client.ts';
import type { Runtime } from '../fetch/runtime.ts';
import type { Provider, Secrets } from '../provider.ts';
import type { RunRecord } from './run-record.ts';

/** What a run needs besides its provider. */
export interface RunnerParts {
  ledger: Ledger;
  /** All providers in order of priority: a symbol is filled by the first enabled provider that has it. */
  providers: readonly Provider[];
  secrets: Secrets;
  runtime: Runtime;
  /** Identifies this process in the lease. Unique. */
  holder: string;
  signal: AbortSignal;
  limits?: FetchLimits;
  leaseMs?: number;
}

/** What the steps of a run share. */
export interface RunContext {
  /** Only with the series whose symbols it owns. */
  readonly provider: Provider;
  readonly parts: RunnerParts;
  readonly lease: FeedLease;
  readonly record: RunRecord;
}

/** The name of a run in revisions and in quarantine. */
export function runName({ lease }: RunContext): string {
  return `feed run ${lease.number}`;
}

/** The symbols that a run may fill. Currencies are not listed by `/symbols`; they are created when they are first needed. */
export async function symbolsOf({
  provider,
  parts,
}: Pick<RunContext, 'provider' | 'parts'>): Promise<LedgerSymbol[]> {
  const { symbols } = parts.ledger;
  if (provider.fills !== 'currencies') return symbols.list();
  const codes = provider.series.map(({ id }) => id);
  return [...(await symbols.addCurrencies(codes)).values()];
}

/** Runs first in every transaction of a run, so that nothing is written without the lease. */
export function leaseGuard({ parts, lease }: RunContext): (tx: Sql) => Promise<void> {
  return async (tx) => {
    if (parts.signal.aborted) throw new Error('the run was stopped; the next run completes it');
    await parts.ledger.feeds.renewWithin(tx, lease);
  };
}
