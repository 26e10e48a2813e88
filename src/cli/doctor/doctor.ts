import { SETTINGS } from '../../config/settings.ts';
import type { Finding, Status } from '../../doctor/checks/finding.ts';
import { examine } from '../../doctor/examine.ts';
import type { Provider } from '../../feeds/provider.ts';
import { systemClock } from '../../runtime/clock.ts';
import { plural } from '../../runtime/plural.ts';
import { type Command, JSON_FLAG } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

export function doctorCommand(providers: readonly Provider[]): Command {
  return {
    name: 'doctor',
    toleratesAnything: true,
    summary: 'Check settings, ledger, clock, disk, feeds, keys and limits; exit code 1 if there is a problem',
    flags: JSON_FLAG,
    settings: SETTINGS.map((setting) => setting.env),
    async run(call) {
      const findings = await examine(call.config, providers, systemClock, call.settingErrors);
      const count = (status: Status) => findings.filter((one) => one.status === status).length;
      const [problems, warnings] = [count('problem'), count('warning')];
      if (call.isSet('json')) printLine(JSON.stringify({ ok: problems === 0, problems, warnings, findings }));
      else
        printLine(
          `${findings.map(inWords).join('\n')}\n\n${plural(problems, 'problem')}, ${plural(warnings, 'warning')}.`,
        );
      if (problems > 0) throw new Error(`the doctor found ${plural(problems, 'problem')}`);
    },
  };
}

const LABELS: Readonly<Record<Status, string>> = { ok: 'ok     ', warning: 'WARNING', problem: 'PROBLEM' };

function inWords({ check, status, message, fix }: Finding): string {
  const first = `${LABELS[status]}  ${check.padEnd(CHECK_WIDTH)}  ${message}`;
  return fix === undefined ? first : `${first}\n${' '.repeat(LABELS.ok.length + CHECK_WIDTH + 4)}→ ${fix}`;
}

/** The longest name of a check. */
const CHECK_WIDTH = 'settings.trusted_proxies'.length;
