import { LocalRates } from '../api/local/local-rates.ts';
import type { AskRates } from '../client/ask.ts';
import type { Config } from '../config.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Clock } from '../runtime/clock.ts';

/** Answers requests from the ledger, as a service with these settings would. */
export async function openLocalRates(ledger: Ledger, config: Config, clock: Clock): Promise<AskRates> {
  const historyBytesMax = config.historyMb * 1024 * 1024;
  const { ask } = await LocalRates.open(ledger, { clock, historyBytesMax, simulated: config.demo !== 'off' });
  return ask;
}
