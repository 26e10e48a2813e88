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

/** How many refused lines are printed; the rest is counted. */
const LINES_SHOWN = 20;
/** With more refused rows than this, and more refused than read, the file is not what it was taken for. */
const REFUSED_MAX = 10_000;

export const importCommand: Command = {
  name: 'import',
  createsLedger: true,
  operands: ['FILE'],
  summary: 'Import daily prices from CSV, plain, .gz or .zip, or from XLSX (- for standard input)',
  flags: {
    symbol: { value: 'CODE', help: 'the symbol that the prices are of, or an exchange rate as EUR/USD' },
    source: { value: 'NAME', help: 'where they come from; shown in metadata (import)' },
    ...FILE_FLAGS,
    'dry-run': { help: 'read and judge the file, and write nothing' },
    accept: { help: 'publish suspicious prices as they are, instead of holding them back' },
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
        latestDay: utcDay(now) + 2, // two days on: Asia and an evening session are ahead of UTC
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
    `${refused.count} rows cannot be used, and only ${bars} can; nothing was imported. The first: line ${first.line}: ${first.reason}`,
  );
}

/** Prints what was done. Throws, for the exit code, when nothing of the file is in the ledger. */
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
    printLines('kept, but odd', odd.lines, odd.count);
    if (before1900 > 0)
      console.log(`  ${before1900} bars are before 1900: they are stored; requests can ask for 1900 to 2199`);
    console.log(nextSteps(run, held.count));
  }
  if (taken + unchanged + corrected === 0)
    throw new Error(
      `nothing was imported: ${missing} rows have no value, ${refused.count} were refused, ${held.count} held back`,
    );
}

/** What can be done about an import. */
function nextSteps(run: number | undefined, held: number): string {
  if (run === undefined) return 'A dry run: nothing was written.';
  const review =
    ' The prices that were held back: openpit quarantine list; --accept publishes them as they are.';
  return `Import ${run}; openpit import undo ${run} takes it back.${held > 0 ? review : ''}`;
}

function printLines(what: string, lines: readonly LineRemark[], count: number): void {
  for (const { line, reason } of lines.slice(0, LINES_SHOWN))
    console.log(`  line ${line} ${what}: ${reason}`);
  if (count > LINES_SHOWN) console.log(`  … and ${count - LINES_SHOWN} more lines ${what}`);
}
