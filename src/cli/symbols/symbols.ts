import { SYMBOL_FILE } from '../../ledger/symbols/symbol-schema.ts';
import { recordOf } from '../../ledger/symbols/symbols.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { plural } from '../../runtime/plural.ts';
import { type Command, JSON_FLAG, requireYes, table, UsageError, YES_FLAG } from '../framework/command.ts';
import { requireFile } from '../framework/files.ts';
import { printLine } from '../framework/print-line.ts';
import { symbolProblems } from './symbol-problems.ts';

export const symbolsCommands: readonly Command[] = [
  {
    name: 'symbols list',
    summary: 'List the symbols',
    flags: JSON_FLAG,
    async run({ withLedger, isSet }) {
      await withLedger(async (ledger) => {
        const symbols = await ledger.symbols.list();
        const aliases = Map.groupBy(await ledger.symbols.aliases(), (one) => one.code);
        const records = symbols.map((symbol) => ({
          ...recordOf(symbol),
          aliases: (aliases.get(symbol.code) ?? []).map((one) => one.alias),
        }));
        if (isSet('json')) {
          printLine(`[\n${records.map((record) => `  ${JSON.stringify(record)}`).join(',\n')}\n]`);
          return;
        }
        const head = ['code', 'name', 'category', 'price in', 'market', 'also known as'];
        const rows = records.map((one) => [
          one.code,
          one.name,
          one.category,
          `${one.currency.code}/${one.unit.symbol}`,
          one.market,
          one.aliases.join(' '),
        ]);
        printLine(table([head, ...rows]));
      });
    },
  },
  {
    name: 'symbols import',
    createsLedger: 'where named',
    operands: ['FILE'],
    summary:
      'Add and change symbols from a JSON file (- for standard input) in the format of openpit symbols list --json',
    flags: {
      relabel: {
        help: 'Change the unit or currency even of symbols that have prices, without converting them',
      },
      'move-aliases': { help: 'Take the aliases in the file from other symbols' },
    },
    async run({ withLedger, operands, isSet }) {
      const file = operands[0]!;
      const name = file === '-' ? 'standard input' : file;
      const content = await readJson(file, name);
      const { data: records, error } = SYMBOL_FILE.safeParse(content);
      if (error) throw new UsageError(`${name} is not a list of symbols:\n${symbolProblems(error, content)}`);
      await withLedger(async (ledger) => {
        const aliases = records.flatMap((record) =>
          (record.aliases ?? []).map((alias) => ({ alias, code: record.code, kind: 'operator' })),
        );
        const { added, changed, unchanged } = await ledger.symbols.upsert(records, aliases, {
          relabel: isSet('relabel'),
          moveAliases: isSet('move-aliases'),
        });
        printLine(`${added} added, ${changed} changed, ${unchanged} unchanged`);
      });
    },
  },
  {
    name: 'symbols delete',
    operands: ['CODE'],
    summary: 'Permanently delete a symbol with all its prices and their revisions',
    flags: YES_FLAG,
    async run(call) {
      const code = call.operands[0]!.toUpperCase();
      await call.withLedger(async (ledger) => {
        const symbol = (await ledger.symbols.list()).find((one) => one.code === code);
        if (!symbol) throw new Error(`there is no symbol ${code}; openpit symbols list lists them`);
        const { bars, ticks } = await ledger.symbols.contentOf(symbol.id);
        const what = `${code} (${symbol.name}) with ${plural(bars, 'bar')} and ${plural(ticks, 'tick')}`;
        const formulas = await ledger.formulas.using(code);
        const users = formulas.length > 0 ? `, which is used by the formulas ${formulas.join(', ')}` : '';
        requireYes(call, `${what}${users}`);
        await ledger.symbols.delete(symbol.id);
        printLine(`Deleted ${what}.`);
        if (formulas.length > 0)
          printLine(`Formulas without values from now on: ${formulas.join(', ')} (openpit symbols undefine)`);
      });
    },
  },
];

async function readJson(file: string, name: string): Promise<unknown> {
  if (file !== '-') requireFile(file);
  const text = await (file === '-' ? Bun.stdin : Bun.file(file)).text();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${messageOf(error)}`);
  }
}
