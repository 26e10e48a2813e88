import { plural } from '../../runtime/plural.ts';
import { type Command, JSON_FLAG } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

export const checkCommand: Command = {
  name: 'check',
  summary: 'Verify that all counts in the ledger add up; exit code 1 if they do not',
  flags: JSON_FLAG,
  async run({ withLedger, isSet }) {
    const wrong = await withLedger((ledger) => ledger.quota.check());
    if (isSet('json')) printLine(JSON.stringify({ ok: wrong.length === 0, wrong }));
    else if (wrong.length === 0) printLine('All counts add up.');
    else for (const line of wrong) printLine(line);
    if (wrong.length > 0)
      throw new Error(
        `${plural(wrong.length, 'inconsistency', 'inconsistencies')}; keep a copy of the ledger and report them`,
      );
  },
};
