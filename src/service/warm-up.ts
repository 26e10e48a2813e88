import type { Clock } from '../runtime/clock.ts';
import { type Log, messageOf } from '../runtime/log/log.ts';
import type { Core } from './core.ts';
import { leaseAhead, preloadKeys } from './prepare-accounts.ts';

/** How long a start waits for its warm-up. With it, a start takes about a second (docs/decisions/0021). */
const WARM_UP_MS_MAX = 400;

export interface WarmUpOptions {
  clock: Clock;
  log: Log;
  /** Ends what continues in the background. */
  signal: AbortSignal;
  /** Whether units are leased ahead. */
  mayLease: boolean;
}

/**
 * Loads what the first requests would otherwise wait for, most needed first. After the time that a start may take, accounts and
 * the symbols with the most ticks continue in the background; the rest is loaded when it is requested.
 */
export async function warmUp(
  { board, directory, meter, ledger }: Core,
  { clock, log, signal, mayLease }: WarmUpOptions,
): Promise<void> {
  const timeUp = AbortSignal.any([signal, AbortSignal.timeout(WARM_UP_MS_MAX)]);
  const active = { accounts: ledger.accounts, now: clock.now(), signal };
  const steps = [
    () => board.loadDates(),
    () => board.loadAhead('latest', timeUp),
    () => preloadKeys(directory, active),
    () => board.loadAhead('twoYears', timeUp),
    async () => mayLease && leaseAhead(meter, active),
    () => board.loadBusiest(signal),
  ];
  const run = async () => {
    for (const step of steps) {
      await step().catch((error: unknown) =>
        log.debug('the rest is loaded when it is requested', { message: messageOf(error) }),
      );
    }
  };
  await Promise.race([run(), Bun.sleep(WARM_UP_MS_MAX)]);
}
