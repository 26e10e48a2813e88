import { type Command, JSON_FLAG } from '../framework/command.ts';

export const checkCommand: Command = {
  name: 'check',
  summary: 'Verify that every count in the ledger adds up; exit code 1 when one does not',
  flags: JSON_FLAG,
  async run({ withLedger, isSet }) {
    const wrong = await withLedger((ledger) => ledger.quota.check());
    if (isSet('json')) console.log(JSON.stringify({ ok: wrong.length === 0, wrong }));
    else if (wrong.length === 0) console.log('All counts add up.');
    else for (const line of wrong) console.log(line);
    if (wrong.length > 0)
      throw new Error(`${wrong.length} things are wrong; keep a copy of the ledger and report this`);
  },
};
