import type { Config } from '../config.ts';
import type { Provider } from '../feeds/provider.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/log/log.ts';
import { checkAccounts } from './checks/accounts.ts';
import { checkClock } from './checks/clock.ts';
import { checkDisk } from './checks/disk.ts';
import { checkFeeds } from './checks/feeds.ts';
import { type Finding, problem } from './checks/finding.ts';
import { inspectLedger } from './checks/ledger.ts';
import { checkLimits } from './checks/limits.ts';
import { checkProcesses, localProcesses } from './checks/processes.ts';
import { checkSettings } from './checks/settings.ts';

/** Runs every check that is possible. A check that throws is reported as a problem, and the others still run. */
export async function examine(
  config: Config,
  providers: readonly Provider[],
  clock: Clock,
  settingErrors: readonly string[] = [],
): Promise<Finding[]> {
  const now = clock.now();
  const { findings, ledger } = await inspectLedger(config, clock);
  const areas: [string, () => Finding[] | Promise<Finding[]>][] = [
    ['settings', () => checkSettings(config, settingErrors, now)],
    ['ledger', () => [...findings]],
    ['disk', () => checkDisk(config)],
    ['limits', async () => checkLimits(config, ledger ? await localProcesses(ledger) : [])],
  ];
  if (ledger) {
    areas.push(
      ['clock', () => checkClock(ledger, clock)],
      ['processes', () => checkProcesses(ledger)],
      ['feeds', () => checkFeeds(ledger, providers, config, now)],
      ['accounts', () => checkAccounts(ledger, config)],
    );
  }
  const all: Finding[] = [];
  for (const [area, check] of areas) {
    try {
      all.push(...(await check()));
    } catch (error) {
      all.push(
        problem(
          `${area}.unchecked`,
          `the check failed: ${messageOf(error)}`,
          'see the other findings for the cause',
        ),
      );
    }
  }
  await ledger?.close();
  return all;
}
