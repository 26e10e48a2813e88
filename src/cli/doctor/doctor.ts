import { SETTINGS } from '../../config/settings.ts';
import type { Provider } from '../../feeds/provider.ts';
import { systemClock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { type Command, type CommandCall, JSON_FLAG } from '../framework/command.ts';
import { checkAccounts } from './checks/accounts.ts';
import { checkClock } from './checks/clock.ts';
import { checkDisk } from './checks/disk.ts';
import { checkFeeds } from './checks/feeds.ts';
import { type Finding, problem, type Status } from './checks/finding.ts';
import { inspectLedger } from './checks/ledger.ts';
import { checkLimits } from './checks/limits.ts';
import { checkProcesses, localProcesses } from './checks/processes.ts';
import { checkSettings } from './checks/settings.ts';

export function doctorCommand(providers: readonly Provider[]): Command {
  return {
    name: 'doctor',
    toleratesAnything: true,
    summary: 'Check settings, ledger, clock, disk, feeds, keys and limits; exit code 1 if there is a problem',
    flags: JSON_FLAG,
    settings: SETTINGS.map((setting) => setting.env),
    async run(call) {
      const findings = await examine(call, providers);
      const count = (status: Status) => findings.filter((one) => one.status === status).length;
      const [problems, warnings] = [count('problem'), count('warning')];
      if (call.isSet('json'))
        console.log(JSON.stringify({ ok: problems === 0, problems, warnings, findings }));
      else
        console.log(
          `${findings.map(inWords).join('\n')}\n\n${plural(problems, 'problem')}, ${plural(warnings, 'warning')}.`,
        );
      if (problems > 0) throw new Error(`the doctor found ${plural(problems, 'problem')}`);
    },
  };
}

/** Runs every check that is possible. A check that throws is reported as a problem, and the others still run. */
async function examine(
  { config, settingErrors }: CommandCall,
  providers: readonly Provider[],
): Promise<Finding[]> {
  const now = systemClock.now();
  const { findings, ledger } = await inspectLedger(config);
  const areas: [string, () => Finding[] | Promise<Finding[]>][] = [
    ['settings', () => checkSettings(config, settingErrors, now)],
    ['ledger', () => [...findings]],
    ['disk', () => checkDisk(config)],
    ['limits', async () => checkLimits(config, ledger ? await localProcesses(ledger) : [])],
  ];
  if (ledger) {
    areas.push(
      ['clock', () => checkClock(ledger, systemClock)],
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

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

const LABELS: Readonly<Record<Status, string>> = { ok: 'ok     ', warning: 'WARNING', problem: 'PROBLEM' };

function inWords({ check, status, message, fix }: Finding): string {
  const first = `${LABELS[status]}  ${check.padEnd(CHECK_WIDTH)}  ${message}`;
  return fix === undefined ? first : `${first}\n${' '.repeat(LABELS.ok.length + CHECK_WIDTH + 4)}→ ${fix}`;
}

/** The longest name of a check. */
const CHECK_WIDTH = 'settings.trusted_proxies'.length;
