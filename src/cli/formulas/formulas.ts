import { NO_MEASURE } from '../../ledger/symbols/formulas.ts';
import { type Command, JSON_FLAG, plainName, table, UsageError } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

/** Formulas that are requested by a code of their own. */
export const formulaCommands: readonly Command[] = [
  {
    name: 'symbols define',
    createsLedger: 'where named',
    operands: ['CODE'],
    summary: 'Define a formula that can be requested by its code, or replace its definition',
    details:
      'A formula has symbols in braces, numbers, + - * / and parentheses. It may not contain other formulas. Running servers accept it within a second.',
    examples: [
      "symbols define CRACK321 --as '(2*{RB-FUT}*42+{HO-FUT}*42-3*{WTIOIL-FUT})/3' --name '3-2-1 crack spread' --unit Bbl --currency USD",
    ],
    flags: {
      as: { value: 'FORMULA', required: true, help: 'The formula, for example {BRENTOIL-FUT}-{WTIOIL-FUT}' },
      name: { value: 'NAME', required: true, help: 'Name of the formula' },
      unit: {
        value: 'UNIT',
        help: 'Unit of its values, for example Bbl. Default: none, as for a ratio',
      },
      currency: { value: 'CODE', help: 'Currency of its values, for example USD. Default: none' },
    },
    async run(call) {
      const code = call.operands[0]!.toUpperCase();
      const formula = {
        code,
        expression: call.required('as'),
        name: plainName('--name', call.required('name')),
        unit: call.flag('unit') ?? NO_MEASURE,
        currency: call.flag('currency') ?? NO_MEASURE,
      };
      const outcome = await call.withLedger((ledger) => ledger.formulas.define(formula));
      if ('problem' in outcome) throw new UsageError(`${code} cannot be defined: ${outcome.problem}`);
      printLine(`${code} is ${outcome.expression}`);
    },
  },
  {
    name: 'symbols formulas',
    summary: 'List the formulas that have a code',
    flags: JSON_FLAG,
    async run({ withLedger, isSet }) {
      const formulas = await withLedger((ledger) => ledger.formulas.list());
      if (isSet('json')) {
        printLine(JSON.stringify(formulas, undefined, 2));
        return;
      }
      const rows = formulas.map((one) => [one.code, one.name, `${one.currency}/${one.unit}`, one.expression]);
      printLine(table([['code', 'name', 'price in', 'formula'], ...rows]));
    },
  },
  {
    name: 'symbols undefine',
    operands: ['CODE'],
    summary: 'Delete the definition of a formula. Its symbols and their prices stay',
    flags: {},
    async run({ withLedger, operands }) {
      const code = operands[0]!.toUpperCase();
      const wasThere = await withLedger((ledger) => ledger.formulas.undefine(code));
      if (!wasThere) throw new Error(`there is no formula ${code}; openpit symbols formulas lists them`);
      printLine(`${code} is no longer defined.`);
    },
  },
];
