import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../test/support/ledger.ts';
import { isCorrupt, outageReason } from '../ledger/engine/errors.ts';
import { isSqliteSound } from '../ledger/inspection/sqlite-integrity.ts';
import { DamageMonitor } from './damage-monitor.ts';

/** A SQLite file with a damaged page in a table. `read` throws. */
function damagedFile() {
  const path = join(newFolder(), 'damaged.db');
  const database = new Database(path);
  database.run('CREATE TABLE t (a TEXT)');
  database.transaction(() => {
    for (let i = 0; i < 2_000; i++) database.run('INSERT INTO t VALUES (?)', ['x'.repeat(100)]);
  })();
  database.close();
  const whole = readFileSync(path);
  const damaged = Buffer.from(whole);
  damaged.fill(0xa5, 3 * 4_096, 6 * 4_096);
  writeFileSync(path, damaged);
  const read = () => {
    const reader = new Database(path, { readonly: true });
    try {
      reader.query('SELECT sum(length(a)) FROM t').values();
    } finally {
      reader.close();
    }
  };
  return { path, read, repair: () => writeFileSync(path, whole) };
}

test('a damaged page is recognized, reported as such, and found by the check until it is repaired', async () => {
  const { path, read, repair } = damagedFile();
  let error: unknown;
  try {
    read();
  } catch (thrown) {
    error = thrown;
  }
  expect(isCorrupt(error)).toBe(true);
  expect(isCorrupt(String(error))).toBe(true);
  expect(outageReason(error)).toBe('its ledger is damaged');
  expect(await isSqliteSound(path)).toBe(false);
  repair();
  expect(await isSqliteSound(path)).toBe(true);
});

test('damage is noticed once, from any error that indicates it, and other errors are ignored', () => {
  let now = 5;
  const monitor = new DamageMonitor({ now: () => now }, async () => false);
  monitor.observe(new Error('Failed to connect'));
  expect(monitor.damage).toBeUndefined();
  monitor.observe('SQLiteError: database disk image is malformed');
  now = 9;
  monitor.observe(new Error('file is not a database'));
  expect(monitor.damage).toMatchObject({ since: 5 });
  monitor.stop();
});
