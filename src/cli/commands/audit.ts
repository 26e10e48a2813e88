import { type AuditEntry, isEntryId } from '../../ledger/audit/entry.ts';
import { type Command, JSON_FLAG, table, UsageError, wholeFlag } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';

const ENTRIES_SHOWN = 50;

export const auditCommand: Command = {
  name: 'audit',
  summary: 'List administrative changes, newest first: who changed what, when and how',
  details:
    'It covers commands, the admin API, the operator page, and what customers do to their own keys. ' +
    'An entry is written in the same transaction as its change, and never contains a secret.',
  examples: ['audit --search plan', 'audit --limit 1000 --json'],
  flags: {
    search: { value: 'TEXT', help: 'Only entries with this text in their actor, action or target' },
    before: { value: 'ID', help: 'Only entries older than the one with this id, as printed by --json' },
    limit: { value: 'N', help: `Maximum number of entries (${ENTRIES_SHOWN})` },
    ...JSON_FLAG,
  },
  async run(call) {
    const limit = wholeFlag(call, 'limit', 1, 10_000) ?? ENTRIES_SHOWN;
    const before = call.flag('before');
    if (before !== undefined && !isEntryId(before))
      throw new UsageError(
        `--before must be the id of an entry, as printed by --json (received "${before}")`,
      );
    const query = { limit, search: call.flag('search'), before };
    const entries = await call.withLedger((ledger) => ledger.audit.list(query));
    if (call.isSet('json')) return printLine(JSON.stringify(entries.map(withTime)));
    if (entries.length === 0) return printLine('No entries.');
    printLine(table([['time', 'who', 'how', 'action', 'target', 'details'], ...entries.map(rowOf)]));
  },
};

function rowOf({ at, actor, via, address, action, target, details }: AuditEntry): string[] {
  const time = `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;
  const how = address === undefined ? via : `${via} from ${address}`;
  const changes = Object.keys(details).length === 0 ? '' : JSON.stringify(details);
  return [time, actor, how, action, target, changes];
}

function withTime({ at, address, ...entry }: AuditEntry) {
  return { ...entry, at: new Date(at).toISOString(), address: address ?? null };
}
