import type { Ledger } from '../ledger/ledger.ts';
import { messageOf } from '../runtime/log/log.ts';
import { type FileImport, type ImportResult, publishFile } from './import/publish-file.ts';
import { type FileReport, type FileRules, stageFile } from './import/stage-file.ts';
import { Staging } from './import/staging.ts';
import { FileSymbols } from './import/symbols.ts';

/** With more refused rows than this, and more refused than usable, the file is probably misread. */
const REFUSED_MAX = 10_000;

/** A file to import. */
export interface FileRequest extends Omit<FileImport, 'onProgress'> {
  path: string;
  /** The symbol of all rows; undefined if a column has it. */
  code: string | undefined;
  rules: Omit<FileRules, 'now' | 'symbolOf' | 'onProgress'>;
  onRead?(fileBytes: number, rows: number): void;
  /** Called when the file is read, with the number of usable rows. */
  onStaged?(rows: number): void;
  onPublished?(done: number): void;
}

export interface ImportedFile {
  /** The codes as written in the file. */
  codes: readonly string[];
  file: FileReport;
  published: ImportResult;
}

/** A file that cannot be read as it is. */
export class UnusableFile extends Error {}

/** Stages the whole file before the first write: one that is rejected with `UnusableFile` changes nothing. */
export async function importFile(ledger: Ledger, request: FileRequest): Promise<ImportedFile> {
  const symbols = await FileSymbols.read(ledger);
  using staging = new Staging();
  const file = await stage(request, symbols, staging).catch((error) => {
    throw new UnusableFile(messageOf(error), { cause: error });
  });
  request.onStaged?.(staging.rows);
  const onProgress = request.onPublished ?? (() => {});
  const published = await publishFile(ledger, staging, symbols, file, { ...request, onProgress });
  return { codes: symbols.codes, file, published };
}

async function stage(
  { path, code, rules, recordedAt, onRead }: FileRequest,
  symbols: FileSymbols,
  staging: Staging,
): Promise<FileReport> {
  if (code) symbols.find(code);
  const file = await stageFile(
    path,
    {
      ...rules,
      now: recordedAt,
      symbolOf: (inRow, line) => symbols.find(code ?? inRow, line),
      ...(onRead && { onProgress: onRead }),
    },
    staging,
  );
  rejectIfUnusable(file, staging.rows);
  return file;
}

function rejectIfUnusable({ refused }: FileReport, bars: number): void {
  const [first] = refused.lines;
  if (first === undefined || refused.count <= REFUSED_MAX || refused.count <= bars) return;
  throw new Error(
    `${refused.count} rows cannot be used and only ${bars} can, so nothing was imported; first error in line ${first.line}: ${first.reason}`,
  );
}
