import { FileSymbols, UnknownSymbol } from '../../feeds/import/symbols.ts';
import { REASON_MAX } from '../../ledger/corrections/withdrawals.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type Day, parseDay, printDay } from '../../market/day.ts';
import { systemClock } from '../../runtime/clock.ts';
import { plural } from '../../runtime/plural.ts';
import {
  type Command,
  type CommandCall,
  JSON_FLAG,
  plainName,
  table,
  UsageError,
} from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

/** Withdrawn days to print; JSON has all of them. */
const DAYS_SHOWN = 20;
/** Three centuries: the range of dates that the service supports. */
const DAYS_MAX = 110_000;

export const barsCommands: readonly Command[] = [
  {
    name: 'bars withdraw',
    summary: 'Withdraw the prices of a day or of a range of days',
    details:
      'Withdrawn prices disappear from responses. Point-in-time requests (asOf) about earlier moments still see them.',
    examples: ['bars withdraw --symbol XAU --day 2024-05-08 --reason "wrong fixing"'],
    flags: {
      symbol: { value: 'CODE', required: true, help: 'Symbol, or an exchange rate such as EUR/USD' },
      day: { value: 'DATE', required: true, help: 'The day, or the first day of a range' },
      to: { value: 'DATE', help: 'The last day of a range' },
      reason: { value: 'TEXT', required: true, help: 'The reason, shown by /rates/revisions' },
      ...JSON_FLAG,
    },
    run: withdraw,
  },
];

async function withdraw(call: CommandCall): Promise<void> {
  const code = call.required('symbol').trim().toUpperCase();
  const reason = plainName('--reason', call.required('reason'), REASON_MAX);
  const first = dayFlag('day', call.required('day'));
  const last = dayFlag('to', call.flag('to') ?? printDay(first));
  if (last < first) throw new UsageError('--to must not be before --day');
  if (last - first > DAYS_MAX) throw new UsageError('the range is too long');
  const withdrawn = await call.withLedger(async (ledger) => {
    const symbolId = await findSymbol(ledger, code);
    const days = Array.from({ length: last - first + 1 }, (_, i) => ({ symbolId, day: first + i }));
    const recordedAt = systemClock.now();
    const bars = await ledger.withdrawals.withdraw(days, { by: 'operator', reason, recordedAt });
    const names = await ledger.sources.names();
    return bars.map(({ day, open, high, low, close, sourceId }) => {
      return { date: printDay(day), open, high, low, close, source: names.get(sourceId) };
    });
  });
  if (call.isSet('json')) printLine(JSON.stringify({ symbol: code, reason, withdrawn }));
  else if (withdrawn.length > 0) {
    printLine(`${code}: ${plural(withdrawn.length, 'day')} withdrawn (${reason})`);
    const rows = withdrawn.slice(0, DAYS_SHOWN);
    printLine(table(rows.map(({ date, close, source }) => [date, `close ${close}`, `from ${source}`])));
    if (withdrawn.length > DAYS_SHOWN) printLine(`  … and ${withdrawn.length - DAYS_SHOWN} more`);
  }
  if (withdrawn.length === 0) {
    const days = last === first ? printDay(first) : `${printDay(first)} to ${printDay(last)}`;
    throw new Error(`${code} has no real prices to withdraw on ${days}`);
  }
}

function dayFlag(name: string, text: string): Day {
  const day = parseDay(text);
  if (day === undefined)
    throw new UsageError(`--${name} must be a date such as 2024-05-08 (received "${text}")`);
  return day;
}

async function findSymbol(ledger: Ledger, code: string): Promise<number> {
  const symbols = await FileSymbols.read(ledger);
  try {
    symbols.find(code);
  } catch (error) {
    throw error instanceof UnknownSymbol ? new UsageError(error.message) : error;
  }
  return (await symbols.knownIds(ledger))[0]!;
}
