import { systemClock } from '../clock.ts';
import { parseCsv } from '../feeds/csv.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { SIMULATED } from '../ledger/sources.ts';
import type { LedgerSymbol } from '../ledger/symbols.ts';
import { utcDay } from '../market/day.ts';
import { nearestCodes } from '../market/symbol.ts';
import { type Command, JSON_FLAG, LEDGER_SETTINGS, UsageError, withLedger } from './command.ts';
import { progressBar } from './progress.ts';

/** How many refused lines are printed; the rest is counted. */
const LINES_SHOWN = 20;

/** Not a symbol, but the units of a currency for 1 EUR. */
const EXCHANGE_RATE = /^EUR\/([A-Z]{3})$/;

export const importCommand: Command = {
  name: 'import',
  operands: ['FILE'],
  summary: 'Import daily prices from a CSV file (- for standard input)',
  flags: {
    symbol: { value: 'CODE', help: 'the symbol that the prices are of, or an exchange rate as EUR/USD' },
    source: { value: 'NAME', help: 'where they come from; shown in metadata (import)' },
    ...JSON_FLAG,
  },
  settings: LEDGER_SETTINGS,
  async run(call) {
    const code = call.required('symbol').trim().toUpperCase();
    const source = call.flag('source')?.trim() || 'import';
    if (source === SIMULATED)
      throw new UsageError(`--source ${SIMULATED} is for simulated prices; choose another name`);
    const file = call.operands[0]!;
    const text = await readText(file);
    const now = systemClock.now();
    const parsed = parseCsv(text, utcDay(now) + 2); // two days on: Asia and an evening session are ahead of UTC
    const result = await withLedger(call.config, async (ledger) => {
      const { id: symbolId } = await findSymbol(ledger, code);
      const bars = parsed.bars.map((bar) => ({ ...bar, symbolId }));
      const progress = progressBar(`Importing ${code}`, bars.length);
      const published = await ledger.bars.publish(bars, { source, recordedAt: now }, progress.done);
      progress.end();
      return published;
    });
    const summary = {
      symbol: code,
      source,
      ...result,
      missing: parsed.missing,
      refused: parsed.refused.length,
    };
    if (call.isSet('json')) {
      console.log(JSON.stringify({ ...summary, refusedLines: parsed.refused, oddLines: parsed.odd }));
      return;
    }
    const { taken, unchanged, corrected, missing, refused } = summary;
    console.log(
      `${code}: ${taken} taken, ${unchanged} unchanged, ${corrected} corrected, ${missing} without a value, ${refused} refused`,
    );
    printLines('refused', parsed.refused);
    printLines('kept, but odd', parsed.odd);
  },
};

async function readText(file: string): Promise<string> {
  if (file === '-') return Bun.stdin.text();
  const handle = Bun.file(file);
  if (!(await handle.exists())) throw new UsageError(`there is no file ${file}`);
  return handle.text();
}

async function findSymbol(ledger: Ledger, code: string): Promise<LedgerSymbol> {
  const currency = EXCHANGE_RATE.exec(code)?.[1];
  if (currency !== undefined) return (await ledger.symbols.addCurrencies([currency])).get(currency)!;
  const symbols = await ledger.symbols.list();
  const aliases = await ledger.symbols.aliases();
  const meant = aliases.find((one) => one.alias === code)?.code ?? code;
  const symbol = symbols.find((one) => one.code === meant);
  if (symbol) return symbol;
  const nearest = nearestCodes(code, [...symbols.map((one) => one.code), ...aliases.map((one) => one.alias)]);
  const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(', ')}?` : '';
  throw new UsageError(`there is no symbol ${code}.${hint} openpit symbols list shows all.`);
}

function printLines(what: string, lines: readonly { line: number; reason: string }[]): void {
  for (const { line, reason } of lines.slice(0, LINES_SHOWN))
    console.log(`  line ${line} ${what}: ${reason}`);
  if (lines.length > LINES_SHOWN) console.log(`  … and ${lines.length - LINES_SHOWN} more lines ${what}`);
}
