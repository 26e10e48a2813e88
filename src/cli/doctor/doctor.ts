import { SETTINGS } from '../../config/settings.ts';
import type { Finding, Status } from '../../doctor/checks/finding.ts';
import { examine } from '../../doctor/examine.ts';
import type { Provider } from '../../feeds/provider.ts';
import { systemClock } from '../../runtime/clock.ts';
import { plural } from '../../runtime/plural.ts';
import { type Command, JSON_FLAG } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';
import { beside, outputWidth } from '../framework/wrap.ts';

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
      else {
        const width = outputWidth(process.stdout);
        const lines = findings.map((finding) => inWords(finding, width)).join('\n');
        printLine(`${lines}\n\n${plural(problems, 'problem')}, ${plural(warnings, 'warning')}.`);
      }
      if (problems > 0) throw new Error(`the doctor found ${plural(problems, 'problem')}`);
    },
  };
}

const LABELS: Readonly<Record<Status, string>> = { ok: 'ok     ', warning: 'WARNING', problem: 'PROBLEM' };

function inWords({ check, status, message, fix }: Finding, width: number): string {
  const first = beside(`${LABELS[status]}  ${check}`, MESSAGE_COLUMN, message, width);
  return fix === undefined ? first : `${first}\n${beside('', MESSAGE_COLUMN, `→ ${fix}`, width)}`;
}

/** Beside the longest name of a check. */
const MESSAGE_COLUMN = `${LABELS.ok}  settings.trusted_proxies  `.length;
