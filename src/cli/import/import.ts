import { type ImportResult, publishFile } from '../../feeds/import/publish-file.ts';
import { type FileReport, stageFile } from '../../feeds/import/stage-file.ts';
import { type LineRemark, Staging } from '../../feeds/import/staging.ts';
import { FileSymbols, UnknownSymbol } from '../../feeds/import/symbols.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import { utcDay } from '../../market/day.ts';
import { systemClock } from '../../runtime/clock.ts';
import { type Command, type CommandCall, JSON_FLAG, UsageError } from '../framework/command.ts';
import { progressBar } from '../framework/progress.ts';
import { withInput } from './input.ts';
import { FILE_FLAGS, fileRules } from './rules.ts';

/** Refused lines to print; the rest is only counted. */
const LINES_SHOWN = 20;
/** With more refused rows than this, and more refused than usable, the file is probably misread. */
const REFUSED_MAX = 10_000;

export const importCommand: Command = {
  name: 'import',
  createsLedger: true,
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
    if (source === SIMULATED)
      throw new UsageError(`--source ${SIMULATED} is reserved for simulated prices; choose another name`);
    const name = call.operands[0]!;
    const imported = await withInput(name, (path) =>
      call.withLedger((ledger) => importFile(call, ledger, { path, name, code, source })),
    );
    report(call, imported, code, source);
  },
};

interface Imported {
  codes: readonly string[];
  file: FileReport;
  published: ImportResult;
}

/** Stages the whole file before the first write: one that is rejected changes nothing. */
async function importFile(
  call: CommandCall,
  ledger: Ledger,
  { path, name, code, source }: { path: string; name: string; code: string | undefined; source: string },
): Promise<Imported> {
  const rules = fileRules(call);
  const symbols = await FileSymbols.read(ledger);
  using staging = new Staging();
  const now = systemClock.now();
  const reading = progressBar('Reading', Bun.file(path).size);
  try {
    if (code) symbols.find(code);
    const file = await stageFile(
      path,
      {
        ...rules,
        latestDay: utcDay(now) + 2, // two days ahead: Asia and evening sessions are ahead of UTC
        symbolOf: (inRow) => symbols.find(code ?? inRow),
        onProgress: (bytes, rows) => reading.done(bytes, `${rows} rows`),
      },
      staging,
    );
    reading.end();
    rejectIfUnusable(file, staging.rows);
    const importing = progressBar('Importing', staging.rows);
    const published = await publishFile(ledger, staging, symbols, file, {
      name,
      source,
      recordedAt: now,
      accept: call.isSet('accept'),
      dryRun: call.isSet('dry-run'),
      onProgress: importing.done,
    });
    importing.end();
    return { codes: symbols.codes, file, published };
  } catch (error) {
    throw error instanceof UnknownSymbol ? new UsageError(error.message) : error;
  } finally {
    reading.end();
  }
}

function rejectIfUnusable({ refused }: FileReport, bars: number): void {
  const [first] = refused.lines;
  if (first === undefined || refused.count <= REFUSED_MAX || refused.count <= bars) return;
  throw new Error(
    `${refused.count} rows cannot be used and only ${bars} can, so nothing was imported; first error in line ${first.line}: ${first.reason}`,
  );
}

/** Prints the result. Throws, for the exit code, when nothing of the file is in the ledger. */
function report(
  call: CommandCall,
  { codes, file, published }: Imported,
  code: string | undefined,
  source: string,
): void {
  const { missing, refused, odd, before1900 } = file;
  const { run, taken, unchanged, corrected, held } = published;
  if (call.isSet('json')) {
    const what = code ? { symbol: code } : { symbols: codes };
    const counts = { taken, unchanged, corrected, missing, refused: refused.count, held: held.count };
    const more = { odd: odd.count, before1900, dryRun: run === undefined, run: run ?? null };
    const lines = { refusedLines: refused.lines, heldLines: held.lines, oddLines: odd.lines };
    console.log(JSON.stringify({ ...what, source, ...counts, ...more, ...lines }));
  } else {
    const label = codes.length === 1 ? codes[0]! : `${codes.length} symbols`;
    console.log(
      `${label}: ${taken} taken, ${unchanged} unchanged, ${corrected} corrected, ${missing} without a value, ${refused.count} refused, ${held.count} held back`,
    );
    printLines('refused', refused.lines, refused.count);
    printLines('held back', held.lines, held.count);
    printLines('accepted, but unusual', odd.lines, odd.count);
    if (before1900 > 0)
      console.log(
        `  ${before1900} bars are before 1900: they are stored, but requests only cover 1900 to 2199`,
      );
    console.log(nextSteps(run, held.count));
  }
  if (taken + unchanged + corrected === 0)
    throw new Error(
      `nothing was imported: ${missing} rows have no value, ${refused.count} were refused, ${held.count} held back`,
    );
}

/** What the user can do next. */
function nextSteps(run: number | undefined, held: number): string {
  if (run === undefined) return 'Dry run: nothing was written.';
  const review =
    ' Review the prices that were held back with: openpit quarantine list. Import with --accept to publish them.';
  return `Import ${run}. To undo it: openpit import undo ${run}${held > 0 ? `.${review}` : ''}`;
}

function printLines(what: string, lines: readonly LineRemark[], count: number): void {
  for (const { line, reason } of lines.slice(0, LINES_SHOWN))
    console.log(`  line ${line} ${what}: ${reason}`);
  if (count > LINES_SHOWN) console.log(`  … and ${count - LINES_SHOWN} more lines ${what}`);
}
