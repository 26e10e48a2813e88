import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportRequest, ImportSummary, PreviewBar } from '../../api/admin/service/operator-jobs.ts';
import type { StagedBar } from '../../feeds/import/staging.ts';
import { type FileRequest, type ImportedFile, importFile, UnusableFile } from '../../feeds/import-file.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { ImportUndone } from '../../ledger/prices/imports.ts';
import { printDay } from '../../market/day.ts';
import { uploadRefused, withParameterNames } from './upload-refusal.ts';

/** Enough to see whether the file was understood. */
const BARS_SHOWN = 100;
const LINES_SHOWN = 100;

/** Imports a file that an operator has uploaded, or previews the result. */
export async function importUpload(
  ledger: Ledger,
  request: ImportRequest,
  now: number,
): Promise<ImportSummary> {
  const { bytes, name, symbol: code, source, accept, dryRun } = request;
  const folder = mkdtempSync(join(tmpdir(), 'openpit-upload-'));
  const path = join(folder, 'file');
  const bars: PreviewBar[] = [];
  try {
    await Bun.write(path, bytes);
    const rules = rulesOf(request);
    const onBar = (bar: StagedBar, symbol: string, outcome: PreviewBar['outcome']) => {
      if (bars.length < BARS_SHOWN) bars.push(previewOf(bar, symbol, outcome));
    };
    const imported = await importFile(ledger, {
      path,
      name,
      code,
      source,
      rules,
      accept,
      dryRun,
      recordedAt: now,
      onBar,
    });
    return summaryOf(imported, bars);
  } catch (error) {
    const isRefused = error instanceof UnusableFile || error instanceof ImportUndone;
    throw isRefused ? uploadRefused(error.message) : error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rulesOf({ columns, dateOrder, decimal, part, zone }: ImportRequest): FileRequest['rules'] {
  return {
    columns,
    ...(dateOrder && { dateOrder }),
    ...(decimal && { decimal }),
    ...(part && { part }),
    ...(zone && { zone }),
  };
}

function previewOf(bar: StagedBar, symbol: string, outcome: PreviewBar['outcome']): PreviewBar {
  const { day, open, high, low, close, line } = bar;
  return { symbol, date: printDay(day), open, high, low, close, line, outcome };
}

function summaryOf({ codes, file, published }: ImportedFile, bars: readonly PreviewBar[]): ImportSummary {
  const { missing, refused } = file;
  const { run, taken, corrected, unchanged, held, odd } = published;
  return {
    symbols: codes,
    run: run ?? null,
    taken,
    corrected,
    unchanged,
    missing,
    refused: refused.count,
    held: held.count,
    odd: odd.count,
    refusedLines: refused.lines
      .slice(0, LINES_SHOWN)
      .map(({ line, reason }) => ({ line, reason: withParameterNames(reason) })),
    heldLines: held.lines.slice(0, LINES_SHOWN),
    oddLines: odd.lines.slice(0, LINES_SHOWN),
    bars,
  };
}
