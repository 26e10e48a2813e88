import { Refusal } from '../../api/errors/errors.ts';
import { HistoryExport } from '../../api/export/history-export.ts';
import { type TableFormat, type TextFormat, tableWriter } from '../../api/model/table.ts';
import { ParquetThread } from '../../api/parquet/parquet-thread.ts';
import { inTermsOf } from '../../client/terms.ts';
import { LAST_DAY, printDay } from '../../market/day.ts';
import { INTERVALS } from '../../market/interval.ts';
import { INTRADAY_INTERVALS } from '../../market/intraday/interval.ts';
import { systemClock } from '../../runtime/clock.ts';
import { codeOf } from '../../runtime/log/log.ts';
import { type Command, type CommandCall, UsageError } from '../framework/command.ts';
import { requireFolderOf } from '../framework/files.ts';
import { isMistake } from '../framework/mistake.ts';
import { printMessage } from '../framework/print-line.ts';
import { ExportProgress } from './export-progress.ts';
import { openOutput } from './output.ts';

const FORMATS: readonly TableFormat[] = ['csv', 'ndjson', 'parquet'];

/** Programs choose a parser by extension, and would fail on CSV under these. */
const OTHER_FORMATS = /^(json|jsonl|xlsx?|ods|tsv|gz|zip|zst|bz2|xz|arrow|feather)$/;

/** Options that are parameters of `/rates/history`, by the name of the option. */
const PARAMETERS: Readonly<Record<string, string>> = {
  symbols: 'symbols',
  from: 'startDate',
  to: 'endDate',
  interval: 'interval',
  layout: 'layout',
  field: 'field',
  transform: 'transform',
  period: 'period',
  moving: 'moving',
  quote: 'quote',
  unit: 'unit',
};

/** What messages call them here. */
const NAMES = {
  ...Object.fromEntries(
    Object.entries(PARAMETERS).flatMap(([option, name]) => [
      [name, `--${option}`],
      [`${name}=`, `--${option} `],
    ]),
  ),
  'without quote': 'without --quote',
  'GET /symbols': 'openpit symbols list',
};

/** The first day that requests cover. */
const FIRST = '1900-01-01';

/** Enough for few system calls. */
const CHUNK_CHARACTERS = 256 * 1024;

export const exportCommand: Command = {
  name: 'export',
  summary: 'Export prices to a CSV, NDJSON or Parquet file (- for standard output)',
  details:
    'The rows and columns are those of /rates/history, read from the ledger as of now, without a server and without units. ' +
    'Memory use does not depend on the number of rows. Progress is on standard error.',
  examples: [
    'export -o prices.parquet',
    'export --symbols XAU,XAG --from 2015-01-01 --interval month -o metals.csv',
    'export --symbols XAU --from 2026-07-01 --interval hour -o gold.csv',
    'export --symbols WTIOIL-FUT,BRENTOIL-FUT --layout wide --format csv -o - | head',
  ],
  flags: {
    symbols: {
      value: 'CODES',
      help: 'Symbols or formulas, separated by commas (all symbols that have prices)',
    },
    from: { value: 'DATE', help: `The first day, or time of an interval shorter than a day (${FIRST})` },
    to: { value: 'DATE', help: 'The last day or time (today)' },
    interval: { value: 'INTERVAL', help: `${[...INTRADAY_INTERVALS, ...INTERVALS].join(', ')} (day)` },
    layout: { value: 'LAYOUT', help: 'long: a row per date and symbol; wide: a column per symbol (long)' },
    field: { value: 'FIELD', help: 'What the cells of the wide layout have (close)' },
    transform: { value: 'NAME', help: 'Add the change, percent, log or index of the closes' },
    period: { value: 'N', help: 'How many intervals a change goes back (1)' },
    moving: { value: 'N', help: 'Add the moving average of this many closes' },
    quote: { value: 'CURRENCY', help: 'Convert to this currency' },
    unit: { value: 'UNIT', help: 'Convert to this unit' },
    format: { value: 'FORMAT', help: 'csv, ndjson or parquet (by the name of the file, otherwise csv)' },
    output: { value: 'FILE', short: 'o', help: 'Where to write; - is standard output (-)' },
  },
  run: exportPrices,
};

async function exportPrices(call: CommandCall): Promise<void> {
  const name = call.flag('output') ?? '-';
  const format = formatOf(call.flag('format'), name);
  if (format === 'parquet' && name === '-' && process.stdout.isTTY) {
    throw new UsageError('Parquet is binary; write it to a file with -o FILE');
  }
  if (name !== '-') requireFolderOf(name);
  await call.withLedger(async (ledger) => {
    const history = await explained(() =>
      HistoryExport.open({
        ledger,
        clock: systemClock,
        simulated: call.config.demo !== 'off',
        parameters: parametersOf(call),
      }),
    );
    for (const warning of history.warnings) printMessage(warning);
    const progress = new ExportProgress();
    const output = openOutput(name);
    try {
      for await (const bytes of encoded(history, format, progress)) {
        progress.bytes += bytes.length;
        await output.write(bytes);
      }
      await output.end();
    } catch (error) {
      progress.stop();
      await output.abort();
      if (codeOf(error) === 'EPIPE') return; // the reader has enough
      throw error;
    }
    progress.end();
  });
}

async function* encoded(
  history: HistoryExport,
  format: TableFormat,
  progress: ExportProgress,
): AsyncGenerator<Uint8Array> {
  if (format !== 'parquet') return yield* text(history, format, progress);
  const thread = new ParquetThread({ yieldsToOthers: false });
  try {
    yield* thread.encode(history.columns, text(history, 'ndjson', progress));
  } finally {
    thread.stop();
  }
}

async function* text(
  history: HistoryExport,
  format: TextFormat,
  progress: ExportProgress,
): AsyncGenerator<Uint8Array> {
  const { head, body } = tableWriter(format);
  let chunk = head(history.columns);
  for await (const { rows, progress: done } of history.rows()) {
    chunk += body(history.columns, rows);
    progress.rows += rows.length;
    progress.update(done);
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  if (chunk !== '') yield Buffer.from(chunk);
}

function formatOf(given: string | undefined, file: string): TableFormat {
  const extension = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase();
  const format = FORMATS.find((one) => one === (given?.toLowerCase() ?? extension));
  if (format) return format;
  if (given === undefined) {
    if (extension === undefined || !OTHER_FORMATS.test(extension)) return 'csv';
    throw new UsageError(
      `export does not write .${extension}. End the name with .csv, .ndjson or .parquet, or choose the format with --format.`,
    );
  }
  throw new UsageError(`--format must be one of ${FORMATS.join(', ')} (received "${given}")`);
}

function parametersOf(call: CommandCall): Record<string, string> {
  const parameters: Record<string, string> = {
    startDate: FIRST,
    endDate: printDay(LAST_DAY), // which means today, and that is tomorrow where the next session has begun
  };
  for (const [option, name] of Object.entries(PARAMETERS)) {
    const value = call.flag(option);
    if (value !== undefined) parameters[name] = value;
  }
  return parameters;
}

/** Messages name parameters; here they are options. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const text = inTermsOf(NAMES, error.message);
    throw isMistake(error) ? new UsageError(text) : new Error(text);
  }
}
