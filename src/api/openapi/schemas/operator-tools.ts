import { z } from 'zod';
import { AUDIT_ACTIONS, AUDIT_WAYS } from '../../../ledger/audit/entry.ts';
import { success, text } from './parts.ts';

const moment = z.iso.datetime();

const prices = { open: z.number(), high: z.number(), low: z.number(), close: z.number() };
const counts = {
  taken: z.int(),
  corrected: z.int(),
  unchanged: z.int(),
  held: z.int().describe('Suspicious bars, held in quarantine'),
  refused: z.int(),
};
const lines = z.array(z.strictObject({ line: z.int(), reason: text })).describe('At most 100');
const symbol = {
  code: text,
  name: text,
  category: text,
  currency: z.strictObject({ code: text, name: text, symbol: text }),
  unit: z.strictObject({ symbol: text, name: text }),
  market: text,
  decimals: z.int(),
  status: text,
  updateInterval: text,
};
const backup = z.strictObject({ name: text, bytes: z.int() });

/** Responses of the operator's tools. */
export const OPERATOR_TOOL_SCHEMAS = {
  AuditEntries: z.strictObject({
    success,
    entries: z.array(
      z.strictObject({
        id: text,
        at: moment,
        actor: text.describe('A user of the machine, the name that the operator gave, or a customer’s key'),
        via: z.enum(AUDIT_WAYS).describe('A command, the admin API, the operator page, or a customer’s key'),
        address: text.nullable().describe('The client’s address; null for a command'),
        action: z.enum(AUDIT_ACTIONS),
        target: text.describe('What was changed, such as an account or a plan'),
        details: z.record(text, z.unknown()).describe('A changed field is a pair: before and after'),
      }),
    ),
    next: text.nullable().describe('The path of the next page; null on the last one'),
  }),
  Traffic: z.strictObject({
    success,
    processes: z.int().describe('How many processes on this port are added up'),
    minutes: z.array(
      z.strictObject({
        at: moment.describe('The start of the minute'),
        requests: z.int().describe('Requests of customers'),
        refused: z.int().describe('With a status from 400 to 499'),
        failed: z.int().describe('With a status from 500 on'),
        p50Ms: z.number().nullable().describe('Latency that half of the requests stayed within'),
        p99Ms: z.number().nullable(),
        lagSeconds: z.number().describe('The longest time behind the ledger'),
      }),
    ),
  }),
  RequestedRun: z.strictObject({ success, key: text, requested: z.literal(true) }),
  FeedAddresses: z.strictObject({
    success,
    key: text,
    addresses: z.array(
      z.strictObject({
        name: text,
        url: text.describe('Requests fill in the parts in braces'),
        own: text.describe('The provider’s own address; it differs from `url` if the operator replaced it'),
      }),
    ),
  }),
  ProbedFeed: z.strictObject({
    success,
    key: text,
    verdict: z
      .enum(['ok', 'unreachable', 'gone', 'refused', 'changed'])
      .describe('`changed`: the response is not what was expected'),
    url: text.describe('The address that was tried, or where it went wrong, without secrets'),
    found: z.array(text).describe('The response, and how it differs from what was expected'),
    advice: z.array(text).describe('What to change'),
  }),
  ChangedDays: z.strictObject({
    success,
    symbol: text,
    days: z.array(z.iso.date()),
    recordedAt: z.iso.datetime(),
  }),
  CorrectedBar: z.strictObject({
    success,
    symbol: text,
    date: z.iso.date(),
    changed: z.boolean(),
    before: z.strictObject(prices).nullable().describe('The prices until now; null if there were none'),
    recordedAt: z.iso.datetime(),
  }),
  Imports: z.strictObject({
    success,
    imports: z.array(
      z.strictObject({
        number: z.int(),
        file: text,
        source: text,
        ...counts,
        startedAt: moment,
        endedAt: moment.nullable().describe('null: it was interrupted'),
        undoneAt: moment.nullable(),
      }),
    ),
  }),
  ImportedFile: z.strictObject({
    success,
    dryRun: z.boolean(),
    source: text,
    symbols: z.array(text).describe('The codes as written in the file'),
    run: z.int().nullable().describe('The number for undoing it; null after a dry run'),
    ...counts,
    missing: z.int().describe('Rows without a value'),
    odd: z.int().describe('Bars whose prices do not fit together; they are published'),
    refusedLines: lines,
    heldLines: lines,
    oddLines: lines,
    bars: z
      .array(
        z.strictObject({
          symbol: text,
          date: z.iso.date(),
          ...prices,
          line: z.int(),
          outcome: z.enum(['taken', 'corrected', 'unchanged', 'held']),
        }),
      )
      .describe('The first 100 of a dry run, with the outcome of each'),
  }),
  UndoneImport: z.strictObject({
    success,
    run: z.int(),
    withdrawn: z.int(),
    restored: z.int(),
    kept: z.int().describe('Days that have changed since'),
    dropped: z.int().describe('Bars dropped from quarantine'),
  }),
  AdminSymbols: z.strictObject({
    success,
    symbols: z.array(
      z.strictObject({
        ...symbol,
        aliases: z.array(text),
        real: z.boolean().describe('Whether it has had a real price'),
      }),
    ),
  }),
  DefinedSymbol: z.strictObject({ success, symbol: z.strictObject(symbol), created: z.boolean() }),
  ImportedSymbols: z.strictObject({ success, added: z.int(), changed: z.int(), unchanged: z.int() }),
  Backups: z.strictObject({ success, backups: z.array(backup) }),
  NewBackup: z.strictObject({ success, backup }),
  DeletedBackup: z.strictObject({ success, name: text, deleted: z.literal(true) }),
  Checked: z.strictObject({
    success,
    ok: z.boolean(),
    wrong: z.array(text).describe('What does not add up'),
  }),
  Examined: z.strictObject({
    success,
    ok: z.boolean().describe('Whether there is no problem'),
    findings: z.array(
      z.strictObject({
        check: text.describe('A stable name such as `disk.room`'),
        status: z.enum(['ok', 'warning', 'problem']),
        message: text,
        fix: text.optional().describe('What to do about it'),
      }),
    ),
  }),
  WebhookSecret: z.strictObject({ success, secret: text }),
} as const satisfies Record<string, z.ZodType>;
