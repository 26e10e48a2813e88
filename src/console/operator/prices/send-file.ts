import { askAsOperator, NotSent } from '../../api/client.ts';

/** How a file is to be read; an empty field is left to the file. */
export interface ImportForm {
  symbol: string;
  symbolColumn: string;
  source: string;
  dateColumn: string;
  valueColumn: string;
  ohlcColumns: string;
  dateOrder: string;
  decimal: string;
  sheet: string;
  zone: string;
  accept: boolean;
}

export const NO_RULES: ImportForm = {
  symbol: '',
  symbolColumn: '',
  source: '',
  dateColumn: '',
  valueColumn: '',
  ohlcColumns: '',
  dateOrder: '',
  decimal: '',
  sheet: '',
  zone: '',
  accept: false,
};

export interface ImportLine {
  line: number;
  reason: string;
}

export interface ImportAnswer {
  symbols: string[];
  run: number | null;
  taken: number;
  corrected: number;
  unchanged: number;
  missing: number;
  refused: number;
  held: number;
  odd: number;
  refusedLines: ImportLine[];
  heldLines: ImportLine[];
  oddLines: ImportLine[];
  bars: {
    symbol: string;
    date: string;
    open: number;
    high: number;
    low: number;
    close: number;
    line: number;
    outcome: 'taken' | 'corrected' | 'unchanged' | 'held';
  }[];
}

/** The service takes 1 MiB; text compresses to a fifth or less. */
const COMPRESS_FROM_BYTES = 256 * 1024;
const BYTES_MAX = 1024 * 1024;

export async function sendFile(
  token: string,
  file: File,
  { accept, ...texts }: ImportForm,
  dryRun: boolean,
): Promise<ImportAnswer> {
  const query = new URLSearchParams({ file: file.name, dryRun: String(dryRun), accept: String(accept) });
  for (const [name, value] of Object.entries(texts)) if (value.trim() !== '') query.set(name, value.trim());
  const body = await read(file);
  if (body.size > BYTES_MAX)
    throw new NotSent(
      'The file is too large for this page (1 MB after compression). Use “openpit import” on the server.',
    );
  return askAsOperator<ImportAnswer>(token, `/admin/imports?${query}`, { method: 'POST', body });
}

export function undoImport(token: string, run: number): Promise<{ withdrawn: number; restored: number }> {
  return askAsOperator(token, `/admin/imports/${run}/undo`, { method: 'POST', body: {} });
}

/** The content. Text is gzipped; workbooks and archives are compressed already. */
async function read(file: File): Promise<Blob> {
  const isAsItIs = file.size < COMPRESS_FROM_BYTES || /\.(gz|zip|xlsx)$/i.test(file.name);
  const content = isAsItIs ? file : file.stream().pipeThrough(new CompressionStream('gzip'));
  try {
    return await new Response(content).blob();
  } catch {
    throw new NotSent('The file was changed or removed after it was chosen. Choose it again.');
  }
}
