import { systemClock } from '../clock.ts';
import { type CsvMapping, parseCsv } from '../feeds/csv.ts';
import type { CsvColumns } from '../feeds/csv-columns.ts';
import { decode } from '../feeds/formats/body.ts';
import { SIMULATED } from '../ledger/sources.ts';
import { utcDay } from '../market/day.ts';
import { zoneOffset } from '../market/zone.ts';
import { type Call, type Command, JSON_FLAG, UsageError } from './command.ts';
import { findSymbols } from './find-symbols.ts';
import { progressBar } from './progress.ts';

/** How many refused lines are printed; the rest is counted. */
const LINES_SHOWN = 20;

export const importCommand: Command = {
  name: 'import',
  operands: ['FILE'],
  summary: 'Import daily prices from a CSV file (- for standard input)',
  flags: {
    symbol: { value: 'CODE', help: 'the symbol that the prices are of, or an exchange rate as EUR/USD' },
    'symbol-column': { value: 'NAME', help: 'or the column that names the symbol of each row' },
    source: { value: 'NAME', help: 'where they come from; shown in metadata (import)' },
    'date-column': { value: 'NAME', help: 'the column of the date; by name, or by number from 1' },
    'value-column': { value: 'NAME', help: 'the one column that is the price' },
    'ohlc-columns': { value: 'O,H,L,C', help: 'or four columns: open, high, low and close' },
    'date-order': { value: 'dmy|mdy', help: 'what 03/04/2026 means, where no date of the file settles it' },
    decimal: { value: 'comma|point', help: 'what 1,234 means, where no number of the file settles it' },
    zone: {
      value: 'ZONE',
      help: 'the zone whose day a timestamp with an offset belongs to, as Europe/London',
    },
    ...JSON_FLAG,
  },
  async run(call) {
    const code = call.flag('symbol')?.trim().toUpperCase();
    if (!code && !call.flag('symbol-column'))
      throw new UsageError('openpit import needs --symbol CODE, or --symbol-column NAME');
    if (code && call.flag('symbol-column'))
      throw new UsageError('openpit import takes --symbol or --symbol-column, not both');
    const source = call.flag('source')?.trim() || 'import';
    if (source === SIMULATED)
      throw new UsageError(`--source ${SIMULATED} is for simulated prices; choose another name`);
    const mapping = mappingOf(call);
    const text = await readText(call.operands[0]!);
    const now = systemClock.now();
    const parsed = parseCsv(text, utcDay(now) + 2, mapping); // two days on: Asia and an evening session are ahead of UTC
    const codes = code ? [code] : [...new Set(parsed.bars.map(({ symbol }) => symbol))];
    const label = codes.length === 1 ? codes[0]! : `${codes.length} symbols`;
    const result = await call.withLedger(async (ledger) => {
      const ids = await findSymbols(ledger, codes);
      const bars = parsed.bars.map((bar) => ({ ...bar, symbolId: ids.get(code ?? bar.symbol)! }));
      const progress = progressBar(`Importing ${label}`, bars.length);
      const published = await ledger.bars.publish(bars, { source, recordedAt: now }, progress.done);
      progress.end();
      return published;
    });
    const summary = {
      ...(code ? { symbol: code } : { symbols: codes }),
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
      `${label}: ${taken} taken, ${unchanged} unchanged, ${corrected} corrected, ${missing} without a value, ${refused} refused`,
    );
    printLines('refused', parsed.refused);
    printLines('kept, but odd', parsed.odd);
  },
};

/** What the flags say about the file. */
function mappingOf(call: Call): CsvMapping {
  const columns: CsvColumns = {};
  const [date, value, symbol, zone] = ['date-column', 'value-column', 'symbol-column', 'zone'].map(call.flag);
  if (date) columns.date = date;
  if (value) columns.value = value;
  if (symbol) columns.symbol = symbol;
  const ohlc = call.flag('ohlc-columns')?.split(',');
  if (ohlc) {
    const [open, high, low, close, more] = ohlc;
    if (!open || !high || !low || !close || more !== undefined)
      throw new UsageError('--ohlc-columns must name four columns: open,high,low,close');
    columns.ohlc = [open, high, low, close];
  }
  const mapping: CsvMapping = { columns };
  const dateOrder = oneOf(call, 'date-order', ['dmy', 'mdy'] as const);
  const decimal = oneOf(call, 'decimal', ['comma', 'point'] as const);
  if (dateOrder) mapping.dateOrder = dateOrder;
  if (decimal) mapping.decimal = decimal;
  if (zone) {
    if (!isZone(zone)) throw new UsageError(`--zone "${zone}" is not a time zone such as Europe/London`);
    mapping.zone = zone;
  }
  return mapping;
}

function oneOf<T extends string>(call: Call, flag: string, allowed: readonly T[]): T | undefined {
  const text = call.flag(flag);
  const value = allowed.find((one) => one === text);
  if (text !== undefined && value === undefined)
    throw new UsageError(`--${flag} must be ${allowed.join(' or ')} (received "${text}")`);
  return value;
}

function isZone(zone: string): boolean {
  try {
    return zoneOffset(zone, 0) !== undefined;
  } catch {
    return false;
  }
}

async function readText(file: string): Promise<string> {
  if (file === '-') return decode(await Bun.stdin.bytes());
  const handle = Bun.file(file);
  if (!(await handle.exists())) throw new UsageError(`there is no file ${file}`);
  return decode(await handle.bytes());
}

function printLines(what: string, lines: readonly { line: number; reason: string }[]): void {
  for (const { line, reason } of lines.slice(0, LINES_SHOWN))
    console.log(`  line ${line} ${what}: ${reason}`);
  if (lines.length > LINES_SHOWN) console.log(`  … and ${lines.length - LINES_SHOWN} more lines ${what}`);
}
