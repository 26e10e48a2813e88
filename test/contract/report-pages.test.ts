import { expect, setDefaultTimeout, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Meter } from '../../src/gate/meter/meter.ts';
import { insertRows } from '../../src/ledger/engine/statements.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { newFolder } from '../support/ledger.ts';
import { eventually } from '../support/program.ts';
import { Seeded } from '../support/seeded.ts';

setDefaultTimeout(60_000);

const ACCOUNTS = 4_000;
/** A page of SQLite's WAL, with its header. */
const PAGE_BYTES = 4_096 + 24;

test('on SQLite, reports of thousands of accounts write few pages, in whatever order their requests arrive', async () => {
  const dir = newFolder();
  const path = join(dir, 'openpit.db');
  const ledger = await Ledger.open(path, systemClock, 'serving');
  const ids = Array.from({ length: ACCOUNTS }, (_, i) => `acc_${String(i).padStart(12, '0')}`);
  await ledger.engine.write(async (tx) => {
    await tx.unsafe('PRAGMA wal_autocheckpoint = 0'); // so that the WAL has all pages
    const rows = ids.map((id) => [id, 'A', 'pro', 'active', 0, 0]);
    await insertRows(ledger.engine, tx, 'account (id, name, plan, status, created_at, revision)', rows);
  });
  const spoolDir = join(dir, 'spool');
  const meter = await Meter.open({ ledger, clock: systemClock, spoolDir, flushMs: 2_000, batchMax: 64 });
  const random = new Seeded(1);
  const arriving = ids
    .map((id) => ({ id, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ id }) => ({ id }));
  await Promise.all(arriving.map((account) => meter.spend(account, 'latest')));
  await allReported(ledger, 1);
  await ledger.engine.read.unsafe('PRAGMA wal_checkpoint(TRUNCATE)');
  await Promise.all(arriving.map((account) => meter.spend(account, 'latest')));
  await allReported(ledger, 2);
  expect(statSync(`${path}-wal`).size / PAGE_BYTES).toBeLessThan(ACCOUNTS / 2);
  await meter.close();
  await ledger.close();
});

/** Waits until the ledger knows that every account has spent this many units. */
async function allReported(ledger: Ledger, units: number): Promise<void> {
  await eventually(async () => {
    const [row] = await ledger.engine.read`SELECT count(*) AS n FROM quota_period WHERE used = ${units}`;
    return Number(row!.n) === ACCOUNTS;
  });
}
