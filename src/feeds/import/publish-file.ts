import type { Ledger } from '../../ledger/ledger.ts';
import type { NewBar } from '../../ledger/prices/bars.ts';
import { importName, noteRevision, requireRunning } from '../../ledger/prices/imports.ts';
import type { BarOutcome, PublishResult } from '../../ledger/prices/publish-bars.ts';
import { type Judgement, judgeBars } from '../../ledger/quarantine/judge-bars.ts';
import { inconsistency } from '../../market/bar.ts';
import { printDay } from '../../market/day.ts';
import { publishJudged } from '../publish-judged.ts';
import { addToSpans, type SymbolSpan } from './spans.ts';
import { type FileReport, Remarks } from './stage-file.ts';
import type { StagedBar, Staging } from './staging.ts';
import type { FileSymbols } from './symbols.ts';

export interface FileImport {
  /** The name of the file, for the record of the import. */
  name: string;
  source: string;
  recordedAt: number;
  /** Publishes suspect bars as they are. */
  accept: boolean;
  /** Checks and counts only. Writes nothing. */
  dryRun: boolean;
  onProgress(done: number): void;
  /** For a dry run: called for each bar with its outcome. */
  onBar?(bar: StagedBar, code: string, outcome: BarOutcome | 'held'): void;
}

/** What an import did, or would do. */
export interface ImportResult extends PublishResult {
  /** Its number, for undoing it; undefined after a dry run. */
  run: number | undefined;
  /** Suspect bars, held in quarantine. */
  held: Remarks;
  /** Bars whose prices are inconsistent. They are published as the source gives them. */
  odd: Remarks;
  /** The bars that were not refused, by symbol id. */
  spans: ReadonlyMap<number, SymbolSpan>;
}

/**
 * Publishes a staged file. Invalid bars are refused and suspect ones held. Everything is recorded as one import from the first
 * transaction on, so that even an interrupted import can be undone.
 */
export async function publishFile(
  ledger: Ledger,
  staging: Staging,
  symbols: FileSymbols,
  file: FileReport,
  what: FileImport,
): Promise<ImportResult> {
  const { source, recordedAt, accept, dryRun } = what;
  const ids = dryRun ? await symbols.knownIds(ledger) : await symbols.ids(ledger);
  const codes = new Map(ids.map((id, i) => [id, symbols.codeOf(i)]));
  const run = dryRun ? undefined : await ledger.imports.begin(what.name, source, recordedAt);
  const spans = new Map<number, SymbolSpan>();
  const total: ImportResult = {
    run,
    taken: 0,
    unchanged: 0,
    corrected: 0,
    held: new Remarks(),
    odd: new Remarks(),
    spans,
  };
  const start = performance.now();
  let done = 0;
  for (const bars of staging.batches(ids, (remark) => file.refused.add(remark))) {
    const judgement = await judgeBars(ledger.engine, bars, {
      source,
      accept,
      holdUnitChanges: true,
      reconsiderHeld: true,
    });
    addRemarks(judgement, file, total, codes, what);
    addToSpans(spans, [...judgement.admitted, ...judgement.held.map(({ bar }) => bar)], codes);
    const result =
      run === undefined
        ? await compare(ledger, judgement, what, codes)
        : await write(ledger, judgement, what, run);
    total.taken += result.taken;
    total.unchanged += result.unchanged;
    total.corrected += result.corrected;
    done += bars.length;
    what.onProgress(done);
  }
  if (run !== undefined) {
    const { taken, corrected, unchanged } = total;
    const counts = { taken, corrected, unchanged, held: total.held.count, refused: file.refused.count };
    const ended = recordedAt + Math.round(performance.now() - start);
    await ledger.imports.finish(run, ended, counts);
  }
  return total;
}

/** Reports the bars of a batch that need attention, by their lines. */
function addRemarks(
  { refused, held, admitted }: Judgement<StagedBar>,
  file: FileReport,
  total: ImportResult,
  codes: ReadonlyMap<number, string>,
  { onBar }: FileImport,
): void {
  for (const { bar, reason } of refused) file.refused.add({ line: bar.line, reason });
  for (const { bar, reason } of held) {
    const code = codes.get(bar.symbolId)!;
    onBar?.(bar, code, 'held');
    total.held.add({ line: bar.line, reason: `${code} ${printDay(bar.day)}: ${reason}` });
  }
  for (const bar of admitted) {
    const reason = inconsistency(bar);
    if (reason) total.odd.add({ line: bar.line, reason });
  }
}

function write(
  ledger: Ledger,
  judgement: Judgement<StagedBar>,
  { source, recordedAt }: FileImport,
  run: number,
): Promise<PublishResult> {
  const origin = importName(run);
  return publishJudged(ledger, judgement, {
    source,
    origin,
    recordedAt,
    before: (tx) => requireRunning(tx, run),
    after: (tx, revision) => noteRevision(tx, origin, revision),
  });
}

/** What a dry run would publish. All bars of a new currency count as taken. */
async function compare(
  ledger: Ledger,
  { admitted }: Judgement<StagedBar>,
  { source, recordedAt, onBar }: FileImport,
  codes: ReadonlyMap<number, string>,
): Promise<PublishResult> {
  const observe = (bar: NewBar, outcome: BarOutcome) =>
    onBar?.(bar as StagedBar, codes.get(bar.symbolId)!, outcome);
  for (const bar of admitted) if (bar.symbolId < 0) observe(bar, 'taken');
  const known = admitted.filter(({ symbolId }) => symbolId >= 0);
  const result = await ledger.bars.compare(known, { source, recordedAt, onBar: observe });
  return { ...result, taken: result.taken + admitted.length - known.length };
}
