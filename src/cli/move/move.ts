import { join } from 'node:path';
import { isPostgresUrl, isSqliteUrl, readPostgresUrl } from '../../config/values.ts';
import type { Config } from '../../config.ts';
import { isInUse } from '../../gate/spool/in-use.ts';
import { countUnsettled } from '../../gate/spool/unsettled.ts';
import type { Engine } from '../../ledger/engine/engine.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { reasonsNotToMove } from '../../ledger/move/in-use.ts';
import { type MovedTable, moveLedger } from '../../ledger/move/move.ts';
import { openEngine, sqlitePath } from '../../ledger/open-engine.ts';
import { systemClock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { plural } from '../../runtime/plural.ts';
import { type Command, JSON_FLAG, table, UsageError } from '../framework/command.ts';
import { requireCreatable } from '../framework/files.ts';
import { printLine } from '../framework/print-line.ts';
import { MoveDisplay } from './display.ts';

export const moveCommand: Command = {
  name: 'move',
  summary:
    'Copy the whole ledger to an empty PostgreSQL database or a new SQLite file, and verify every table',
  details: 'An interrupted move continues when the same command is run again.',
  examples: ['move --to postgres://openpit@db.example:5432/openpit'],
  flags: {
    to: { value: 'URL', required: true, help: 'Target: postgres://…, or the path of a SQLite file' },
    force: { help: 'Move even if the ledger is in use; writes during the move may be missing from the copy' },
    ...JSON_FLAG,
  },
  async run({ config, withLedger, required, isSet }) {
    const to = required('to');
    if (/^[a-z][a-z0-9+.-]+:/i.test(to) && !isPostgresUrl(to) && !isSqliteUrl(to)) {
      throw new UsageError('--to must begin with postgres:// or sqlite://, or be the path of a SQLite file');
    }
    if (isPostgresUrl(to)) readPostgresUrl('--to', to);
    else requireCreatable(sqlitePath(to));
    const moved = await withLedger(async (ledger) => {
      if (!isSet('force')) await requireUnused(config, ledger);
      const target = await openTarget(to);
      try {
        return await move(ledger.engine, target, isSet('force'));
      } finally {
        await target.close();
      }
    });
    if (isSet('json')) return printLine(JSON.stringify({ tables: moved }));
    const rows = moved.map(({ name, rows, checksum }) => [name, String(rows), checksum]);
    printLine(table([['table', 'rows', 'checksum, identical in both'], ...rows]));
    const total = moved.reduce((sum, { rows }) => sum + rows, 0);
    printLine(
      `Moved ${plural(total, 'row')}. Start the service with the new ledger (OPENPIT_DATABASE_URL) and the same data folder.`,
    );
  },
};

/** Names the target, because other messages about a database refer to the ledger of the settings. */
async function openTarget(to: string): Promise<Engine> {
  try {
    return await openEngine(to, systemClock, 'working');
  } catch (error) {
    throw new Error(`the target (--to) cannot be opened: ${messageOf(error)}`);
  }
}

async function move(source: Engine, target: Engine, allowsWrites: boolean): Promise<MovedTable[]> {
  const display = new MoveDisplay();
  try {
    return await moveLedger(source, target, {
      allowsWrites,
      onProgress: (progress) => display.show(progress),
      onNote: (text) => display.note(text),
    });
  } finally {
    display.end();
  }
}

/** Counts that are not in the ledger yet would be missing from the copy. */
async function requireUnused({ dataDir }: Config, ledger: Ledger): Promise<void> {
  const spool = join(dataDir, 'spool');
  const reasons = await reasonsNotToMove(ledger.engine);
  if (isInUse(spool)) reasons.push(`a service is running with the data folder ${dataDir}: stop it`);
  else {
    const unsettled = countUnsettled(spool);
    if (unsettled > 0) {
      reasons.push(
        `${spool} holds counts of ${plural(unsettled, 'lease')} that are not in the ledger: start the service and stop it again`,
      );
    }
  }
  if (reasons.length > 0) {
    throw new Error(`the ledger cannot be moved now (--force overrides this):\n  ${reasons.join('\n  ')}`);
  }
}
