import type { Sql } from '../../ledger/engine/rows.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { FeedLease } from '../../ledger/operations/feed-runs.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { FetchLimits } from '../fetch/http-client.ts';
import type { Runtime } from '../fetch/runtime.ts';
import type { Provider, Secrets } from '../provider.ts';
import type { RunRecord } from './run-record.ts';

/** What a run needs beside its provider. */
export interface RunnerParts {
  ledger: Ledger;
  /** All there are, in their order: of those that are on, the first that has a symbol brings it. */
  providers: readonly Provider[];
  secrets: Secrets;
  runtime: Runtime;
  /** Names this process in the lease. No two have the same. */
  holder: string;
  signal: AbortSignal;
  limits?: FetchLimits;
  leaseMs?: number;
}

/** One run, for each of its steps. */
export interface RunContext {
  /** With those of its series whose symbols it owns. */
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
export async function symbolsOf({ provider, parts }: RunContext): Promise<LedgerSymbol[]> {
  const { symbols } = parts.ledger;
  if (provider.fills !== 'currencies') return symbols.list();
  const codes = provider.series.map(({ id }) => id);
  return [...(await symbols.addCurrencies(codes)).values()];
}

/** Runs first in every transaction of a run: without the lease, nothing is written. */
export function leaseGuard({ parts, lease }: RunContext): (tx: Sql) => Promise<void> {
  return async (tx) => {
    if (parts.signal.aborted) throw new Error('it was stopped in the middle; the next run completes it');
    await parts.ledger.feeds.renewWithin(tx, lease);
  };
}
