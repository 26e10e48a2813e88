import type { SymbolSpan } from '../../feeds/import/spans.ts';
import type { LineRemark } from '../../feeds/import/staging.ts';
import { UnknownSymbol } from '../../feeds/import/symbols.ts';
import { type ImportedFile, importFile, UnusableFile } from '../../feeds/import-file.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { expectedSource } from '../../ledger/symbols/sources.ts';
import { printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import { systemClock } from '../../runtime/clock.ts';
import { plural } from '../../runtime/plural.ts';
import { type Command, type CommandCall, JSON_FLAG, table, UsageError } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';
import { progressBar } from '../framework/progress.ts';
import { withInput } from './input.ts';
import { FILE_FLAGS, fileRules } from './rules.ts';

/** Refused lines to print; the rest is only counted. */
const LINES_SHOWN = 20;
/** Symbols of which the days and the newest price are printed; JSON has all of them. */
const SYMBOLS_SHOWN = 10;

export const importCommand: Command = {
  name: 'import',
  createsLedger: 'anywhere',
  operands: ['FILE'],
  summary: 'Import daily prices from a CSV or XLSX file (- for standard input)',
  details:
    'A CSV file may be compressed (.gz, .zip). Prices that look wrong are held back for review (openpit quarantine list).',
  examples: [
    'import gold.csv --symbol XAU --dry-run',
    'import prices.xlsx --symbol-column Code --date-column Date --value-column Close --source "My desk"',
  ],
  flags: {
    symbol: { value: 'CODE', help: 'Symbol of all prices in the file, or an exchange rate such as EUR/USD' },
    source: { value: 'NAME', help: 'Source of the prices, shown in the metadata (import)' },
    ...FILE_FLAGS,
    'dry-run': { help: 'Read and check the file, and write nothing' },
    accept: { help: 'Publish suspicious prices instead of holding them back' },
    ...JSON_FLAG,
  },
  async run(call) {
    const code = call.flag('symbol')?.trim().toUpperCase();
    if (!code && !call.flag('symbol-column'))
      throw new UsageError('openpit import requires --symbol CODE or --symbol-column NAME');
    if (code && call.flag('symbol-column'))
      throw new UsageError('openpit import takes --symbol or --symbol-column, not both');
    const source = call.flag('source')?.trim() || 'import';
    const expected = expectedSource(source);
    if (expected !== undefined)
      throw new UsageError(`--source must be ${expected} (received "${source.slice(0, 40)}")`);
    const name = call.operands[0]!;
    const imported = await withInput(name, (path) =>
      call.withLedger((ledger) => importWithProgress(call, ledger, { path, name, code, source })),
    );
    report(call, imported, code, source);
  },
};

/** Imports with progress bars. */
async function importWithProgress(
  call: CommandCall,
  ledger: Ledger,
  { path, name, code, source }: { path: string; name: string; code: string | undefined; source: string },
): Promise<ImportedFile> {
  const reading = progressBar('Reading', Bun.file(path).size);
  let importing: ReturnType<typeof progressBar> | undefined;
  try {
    return await importFile(ledger, {
      path,
      name,
      code,
      source,
      rules: fileRules(call),
      recordedAt: systemClock.now(),
      accept: call.isSet('accept'),
      dryRun: call.isSet('dry-run'),
      onRead: (bytes, rows) => reading.done(bytes, `${rows} rows`),
      onStaged: (rows) => {
        reading.end();
        importing = progressBar('Importing', rows);
      },
      onPublished: (done) => importing?.done(done),
    });
  } catch (error) {
    throw error instanceof UnusableFile && error.cause instanceof UnknownSymbol
      ? new UsageError(error.message)
      : error;
  } finally {
    reading.end();
    importing?.end();
  }
}

/** Prints the result. Throws, for the exit code, when nothing of the file is in the ledger. */
function report(
  call: CommandCall,
  { codes, file, published }: ImportedFile,
  code: string | undefined,
  source: string,
): void {
  const { missing, refused, before1900 } = file;
  const { run, taken, unchanged, corrected, held, odd } = published;
  const spans = [...published.spans.values()];
  if (call.isSet('json')) {
    const what = code ? { symbol: code } : { symbols: codes };
    const counts = { taken, unchanged, corrected, missing, refused: refused.count, held: held.count };
    const more = { odd: odd.count, before1900, dryRun: run === undefined, run: run ?? null };
    const lines = { refusedLines: refused.lines, heldLines: held.lines, oddLines: odd.lines };
    printLine(JSON.stringify({ ...what, source, ...counts, ...more, read: spans.map(spanJson), ...lines }));
  } else {
    const label = codes.length === 1 ? codes[0]! : `${codes.length} symbols`;
    printLine(
      `${label}: ${taken} taken, ${unchanged} unchanged, ${corrected} corrected, ${missing} without a value, ${refused.count} refused, ${held.count} held back`,
    );
    printSpans(spans);
    printLines('refused', refused.lines, refused.count);
    printLines('held back', held.lines, held.count);
    printLines('accepted, but unusual', odd.lines, odd.count);
    if (before1900 > 0)
      printLine(
        `  ${plural(before1900, 'row')} before 1900: the prices are stored, but requests only cover 1900 to 2199`,
      );
    printLine(nextSteps(run, taken + corrected, held.count));
  }
  if (taken + unchanged + corrected === 0)
    throw new Error(
      missing + refused.count + held.count === 0
        ? 'nothing was imported: the file has no rows with prices'
        : `nothing was imported: ${plural(missing, 'row')} without a value, ${refused.count} refused, ${held.count} held back`,
    );
}

function spanJson({ symbol, firstDay, lastDay, close }: SymbolSpan) {
  return { symbol, firstDate: printDay(firstDay), lastDate: printDay(lastDay), close };
}

/** Shows how dates and numbers were read. */
function printSpans(spans: readonly SymbolSpan[]): void {
  if (spans.length === 0) return;
  const rows = spans.slice(0, SYMBOLS_SHOWN).map(({ symbol, firstDay, lastDay, close }) => {
    const days = [...new Set([firstDay, lastDay])].map(printDay).join(' to ');
    return [symbol, days, `newest price ${printNumber(close)}`];
  });
  printLine(table(rows));
  if (spans.length > SYMBOLS_SHOWN) printLine(`  … and ${spans.length - SYMBOLS_SHOWN} more symbols`);
}

/** What the user can do next. */
function nextSteps(run: number | undefined, changed: number, held: number): string {
  if (run === undefined) return 'Dry run: nothing was written.';
  if (changed + held === 0) return `Import ${run} changed nothing.`;
  const review =
    ' Review the prices that were held back with: openpit quarantine list. Import with --accept to publish them.';
  return `Import ${run}. To undo it: openpit import undo ${run}${held > 0 ? `.${review}` : ''}`;
}

function printLines(what: string, lines: readonly LineRemark[], count: number): void {
  for (const { line, reason } of lines.slice(0, LINES_SHOWN)) printLine(`  line ${line} ${what}: ${reason}`);
  if (count > LINES_SHOWN) printLine(`  … and ${count - LINES_SHOWN} more lines ${what}`);
}
