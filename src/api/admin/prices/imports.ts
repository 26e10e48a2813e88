import type { ImportRun } from '../../../ledger/prices/imports.ts';
import { expectedSource } from '../../../ledger/symbols/sources.ts';
import { isZone } from '../../../market/zone.ts';
import { isPlainText, PLAIN } from '../../../runtime/plain-text.ts';
import { refuse } from '../../errors/errors.ts';
import type { AdminEndpoint } from '../../model/endpoint.ts';
import type { QueryParams } from '../../model/query.ts';
import { readChangeFlag, singleUnlessEmpty as single } from '../../params/parameters.ts';
import { adminEndpoint } from '../admin-endpoint.ts';
import { orConflict } from '../service/maintenance.ts';
import { type ImportRequest, type OperatorJobs, UploadRefused } from '../service/operator-jobs.ts';
import { limitOf } from '../service/paging.ts';

const RUNS_DEFAULT = 20;
const RUNS_MAX = 1_000;
const TEXT_MAX = 200;

/** /admin/imports: uploads a file of prices or previews it, lists imports, and undoes one. */
export function adminImports(jobs: OperatorJobs): readonly AdminEndpoint[] {
  return [
    adminEndpoint('/admin/imports', {
      async GET({ query, ledger }) {
        const runs = await ledger.imports.list(limitOf(query, RUNS_DEFAULT, RUNS_MAX));
        return { success: true, imports: runs.map(record) };
      },
      /** The body is the file itself: CSV, plain or compressed, or XLSX. The server limits it to 1 MiB. */
      async POST({ query, request, ledger, now }) {
        const requested = readRequest(query);
        const bytes = await request.bytes();
        if (bytes.length === 0) throw refuse('invalid_file', { problem: 'it is empty' });
        const importing = jobs.importFile({ ...requested, bytes }, ledger.actor, now).catch((error) => {
          throw error instanceof UploadRefused ? refuse('invalid_file', { problem: error.message }) : error;
        });
        const summary = await orConflict(importing);
        return { success: true, dryRun: requested.dryRun, source: requested.source, ...summary };
      },
    }),
    adminEndpoint('/admin/imports/:id/undo', {
      async POST({ id, ledger, now }) {
        const run = /^\d{1,9}$/.test(id) ? await ledger.imports.find(Number(id)) : undefined;
        if (!run) throw refuse('not_there', { what: 'import', id: id.slice(0, 64) });
        if (run.undone !== undefined) throw refuse('conflict', { why: 'the import has already been undone' });
        const counts = { withdrawn: 0, restored: 0, kept: 0 };
        const { number } = run;
        const dropped = await ledger.imports.undo(number, now, (days) => {
          for (const { what } of days) counts[what]++;
        });
        return { success: true, run: number, ...counts, dropped };
      },
    }),
  ];
}

function readRequest(query: QueryParams): Omit<ImportRequest, 'bytes'> {
  const text = (name: string) => plainText(query, name);
  const symbol = text('symbol')?.toUpperCase();
  const source = single(query, 'source')?.trim() || 'import';
  const expected = expectedSource(source);
  const zone = text('zone');
  const symbolColumn = text('symbolColumn');
  if ((symbol === undefined) === (symbolColumn === undefined))
    throw refuse('missing_parameter', { name: 'symbol', example: 'XAU (or symbolColumn, but not both)' });
  if (expected !== undefined) throw invalid('source', source, expected);
  if (zone !== undefined && !isZone(zone)) throw invalid('zone', zone, 'a time zone such as Europe/London');
  return {
    name: text('file') ?? 'upload',
    symbol,
    source,
    zone,
    columns: columnsOf(text, symbolColumn),
    dateOrder: oneOf(text, 'dateOrder', ['dmy', 'mdy'] as const),
    decimal: oneOf(text, 'decimal', ['comma', 'point'] as const),
    part: text('sheet'),
    accept: readChangeFlag(query, 'accept'),
    dryRun: readChangeFlag(query, 'dryRun'),
  };
}

/** What is stored and listed must be plain text: PostgreSQL stores no NUL. */
function plainText(query: QueryParams, name: string): string | undefined {
  const text = single(query, name);
  if (text !== undefined && !isPlainText(text)) throw invalid(name, text, PLAIN);
  return text?.slice(0, TEXT_MAX);
}

type ReadText = (name: string) => string | undefined;

function columnsOf(text: ReadText, symbol: string | undefined): ImportRequest['columns'] {
  const [date, value, ohlc] = [text('dateColumn'), text('valueColumn'), text('ohlcColumns')];
  const [open, high, low, close, more] = ohlc?.split(',') ?? [];
  if (ohlc !== undefined && (!open || !high || !low || !close || more !== undefined))
    throw invalid('ohlcColumns', ohlc, 'four columns: open,high,low,close');
  if (ohlc !== undefined && value !== undefined)
    throw invalid('ohlcColumns', ohlc, 'absent with valueColumn');
  return {
    ...(symbol !== undefined && { symbol }),
    ...(date !== undefined && { date }),
    ...(value !== undefined && { value }),
    ...(open && high && low && close && { ohlc: [open, high, low, close] }),
  };
}

function oneOf<T extends string>(text: ReadText, name: string, allowed: readonly T[]): T | undefined {
  const received = text(name);
  const value = allowed.find((one) => one === received);
  if (received !== undefined && value === undefined) throw invalid(name, received, allowed.join(' or '));
  return value;
}

function invalid(name: string, received: string, expected: string) {
  return refuse('invalid_parameter', { name, received: received.slice(0, 64), expected });
}

function record({ started, ended, undone, ...run }: ImportRun) {
  const iso = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  return { ...run, startedAt: iso(started), endedAt: iso(ended), undoneAt: iso(undone) };
}
