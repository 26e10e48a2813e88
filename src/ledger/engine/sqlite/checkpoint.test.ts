import { expect, test } from 'bun:test';
import { appendFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../../../test/support/ledger.ts';
import { withSmallDisk } from '../../../../test/support/small-disk.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { Engine } from '../engine.ts';
import type { Sql } from '../rows.ts';
import { openSqlite } from './sqlite.ts';

test('a commit of the serving thread does not checkpoint the log; the feed thread does when it has grown', async () => {
  const path = join(newFolder(), 'ledger.db');
  const serving = await openSqlite(path, systemClock, 'serving');
  const feeding = await openSqlite(path, systemClock, 'feeding');
  await serving.write((tx) => tx`CREATE TABLE note (text BLOB)`);
  await feeding.checkpoint();
  expect((await pages(serving)).copied).toBe(0); // too few
  await writePages(serving, 1_500);
  expect((await pages(serving)).copied).toBe(0);
  await feeding.checkpoint();
  const { written, copied } = await pages(serving);
  expect(written).toBeGreaterThan(1_500);
  expect(copied).toBe(written);
  await feeding.close();
  await serving.close();
});

test('without a feed thread, commits of the serving thread keep the log from growing without limit', async () => {
  const serving = await openSqlite(join(newFolder(), 'ledger.db'), systemClock, 'serving');
  await serving.write((tx) => tx`CREATE TABLE note (text BLOB)`);
  await writePages(serving, 10_000);
  expect((await pages(serving)).written).toBeLessThan(6_000);
  await serving.close();
});

test('on a full disk, the serving thread writes more than the log holds, however late the feed thread is', async () => {
  await withFullDisk(async ({ serving, update }) => {
    for (let i = 0; i < 50; i++) await serving.write(update);
  });
});

test('on a full disk, the log is reused also if every checkpoint is followed by a commit', async () => {
  await withFullDisk(async ({ serving, feeding, update }) => {
    for (let i = 0; i < 50; i++) {
      await serving.write(async (tx) => {
        await update(tx);
        await feeding.read.unsafe('PRAGMA wal_checkpoint(PASSIVE)');
      });
    }
  });
});

interface FullDisk {
  serving: Engine;
  feeding: Engine;
  /** Writes 100 pages that need no more space in the main file. */
  update(tx: Sql): Promise<unknown>;
}

/** A ledger that was tidied before its disk was full. */
async function withFullDisk(run: (disk: FullDisk) => Promise<void>): Promise<void> {
  await withSmallDisk(32, async (folder) => {
    const path = join(folder, 'ledger.db');
    const serving = await openSqlite(path, systemClock, 'serving');
    const feeding = await openSqlite(path, systemClock, 'feeding');
    await serving.write((tx) => tx`CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB)`);
    await serving.write((tx) => tx`CREATE TABLE note (text BLOB)`);
    for (let i = 0; i < 100; i++)
      await serving.write((tx) => tx`INSERT INTO note (text) VALUES (zeroblob(4000))`);
    await feeding.reserveDiskSpace();
    fill(folder);
    await run({ serving, feeding, update: async (tx) => tx`UPDATE note SET text = randomblob(4000)` });
    await feeding.close();
    await serving.close();
  });
}

/** Writes until the disk is full. */
function fill(folder: string): void {
  for (let bytes = 1024 * 1024; bytes >= 1; bytes = Math.floor(bytes / 2)) {
    try {
      for (;;) appendFileSync(join(folder, 'filler'), new Uint8Array(bytes));
    } catch {}
  }
  expect(statfsSync(folder).bavail).toBe(0);
}

async function writePages(engine: Engine, count: number): Promise<void> {
  for (let i = 0; i < count; i += 100) {
    await engine.write((tx) => tx`INSERT INTO note (text) VALUES (zeroblob(${100 * 4_096}))`);
  }
}

/** How many pages the log has, and how many of them were copied to the main file. */
async function pages({ read }: Engine): Promise<{ written: number; copied: number }> {
  const [row] = await read.unsafe('PRAGMA wal_checkpoint(NOOP)');
  return { written: Number(row!.log), copied: Number(row!.checkpointed) };
}
