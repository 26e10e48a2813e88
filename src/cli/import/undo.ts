import type { UndoneDay } from '../../ledger/corrections/undo-import.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ImportRun } from '../../ledger/prices/imports.ts';
import { printDay } from '../../market/day.ts';
import { systemClock } from '../../runtime/clock.ts';
import { plural } from '../../runtime/plural.ts';
import {
  type Command,
  type CommandCall,
  JSON_FLAG,
  numberOperand,
  table,
  wholeFlag,
} from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';
import { progressBar } from '../framework/progress.ts';

const RUNS_SHOWN = 20;
/** Days that an undo prints; JSON has all of them. */
const DAYS_SHOWN = 20;

export const importRunCommands: readonly Command[] = [
  {
    name: 'import list',
    summary: 'List the imports, newest first, with the numbers for openpit import undo',
    flags: { limit: { value: 'N', help: `Maximum number of imports (${RUNS_SHOWN})` }, ...JSON_FLAG },
    run: list,
  },
  {
    name: 'import undo',
    operands: ['RUN'],
    summary: 'Undo an import: withdraw the prices it added, and restore those it corrected',
    flags: JSON_FLAG,
    run: undo,
  },
];

async function list(call: CommandCall): Promise<void> {
  const limit = wholeFlag(call, 'limit', 1, 10_000) ?? RUNS_SHOWN;
  const runs = await call.withLedger((ledger) => ledger.imports.list(limit));
  if (call.isSet('json')) return printLine(JSON.stringify(runs.map(runJson)));
  if (runs.length === 0) return printLine('No imports yet.');
  const head = [
    'run',
    'started',
    'source',
    'taken',
    'corrected',
    'unchanged',
    'held back',
    'refused',
    'state',
    'file',
  ];
  const rows = runs.map((run) => [
    String(run.number),
    `${new Date(run.started).toISOString().slice(0, 16).replace('T', ' ')}Z`,
    run.source,
    ...[run.taken, run.corrected, run.unchanged, run.held, run.refused].map(String),
    stateOf(run),
    run.file,
  ]);
  printLine(table([head, ...rows]));
}

function stateOf({ ended, undone }: ImportRun): string {
  if (undone !== undefined) return 'undone';
  return ended === undefined ? 'unfinished' : 'done';
}

function runJson({ number, started, ended, undone, ...run }: ImportRun) {
  const iso = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  return { run: number, started: iso(started), ended: iso(ended), undone: iso(undone), ...run };
}

async function undo(call: CommandCall): Promise<void> {
  const run = numberOperand(call, 'RUN');
  const counts = { withdrawn: 0, restored: 0, kept: 0 };
  const days: { symbol: string; date: string; what: UndoneDay['what']; was: number }[] = [];
  const dropped = await call.withLedger(async (ledger) => {
    const found = await ledger.imports.find(run);
    if (!found) throw new Error(`there is no import ${run}; openpit import list lists them`);
    if (found.undone !== undefined) throw new Error(`import ${run} has already been undone`);
    const symbols = [...(await ledger.symbols.list()), ...(await ledger.symbols.currencies())];
    const codes = new Map(symbols.map(({ id, code }) => [id, code]));
    const now = systemClock.now();
    return undoWithProgress(ledger, run, now, ({ symbolId, day, what, close }) => {
      counts[what]++;
      if (call.isSet('json') || days.length < DAYS_SHOWN)
        days.push({ symbol: codes.get(symbolId)!, date: printDay(day), what, was: close });
    });
  });
  if (call.isSet('json')) return printLine(JSON.stringify({ run, ...counts, dropped, days }));
  const { withdrawn, restored, kept } = counts;
  printLine(
    `Import ${run} is undone: ${plural(withdrawn, 'day')} withdrawn, ${restored} restored, ${kept} kept because they have changed since, ${dropped} dropped from quarantine`,
  );
  const shown = days.map(({ symbol, date, what, was }) => [symbol, date, what, `was ${was}`]);
  if (shown.length > 0) printLine(table(shown));
  const more = withdrawn + restored + kept - shown.length;
  if (more > 0) printLine(`  … and ${more} more`);
}

async function undoWithProgress(
  ledger: Ledger,
  run: number,
  now: number,
  onDay: (day: UndoneDay) => void,
): Promise<number> {
  const progress = progressBar('Undoing', 1);
  let count = 0;
  try {
    return await ledger.imports.undo(run, now, (days, share) => {
      for (const day of days) onDay(day);
      count += days.length;
      progress.done(share, plural(count, 'day'));
    });
  } finally {
    progress.end();
  }
}
