import { afterEach, expect, test } from 'bun:test';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  readdirSync,
  statfsSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { periodOf } from '../../../src/ledger/quota/period.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { canRunAsNobody, openpitAsNobody } from '../../support/as-nobody.ts';
import { newFolder, newLedgerUrl } from '../../support/ledger.ts';
import { openpit, Program } from '../../support/program.ts';
import { withSmallDisk } from '../../support/small-disk.ts';

let program: Program | undefined;
afterEach(async () => {
  await program?.end('SIGKILL');
  program = undefined;
});

async function importPrice(settings: Record<string, string>, price: number): Promise<void> {
  const file = join(settings.OPENPIT_DATA_DIR!, `price-${price}.csv`);
  await Bun.write(file, `date,close\n2024-05-14,${price}\n`);
  expect(await openpit(['import', file, '--symbol', 'XAU'], settings)).toMatchObject({ exitCode: 0 });
}

test('a backup of a running service is complete, and restoring it brings back prices, accounts and counts', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  await importPrice(settings, 100);
  const created = await openpit(['account', 'create', '--name', 'A', '--plan', 'pro', '--json'], settings);
  const { key } = JSON.parse(created.stdout);
  program = await Program.start(settings);
  const path = '/rates/historical?symbols=XAU&date=2024-05-14';
  const before = await program.get(path, key);
  expect(await before.json()).toMatchObject({ rates: { XAU: { close: 100 } } });
  expect(await (await program.get('/usage', key)).json()).toMatchObject({ used: 1 });

  const backup = join(newFolder(), 'backup.db');
  expect(await openpit(['backup', backup], settings)).toMatchObject({ exitCode: 0, stderr: '' });
  await importPrice(settings, 200);

  const refused = await openpit(['restore', backup, '--force'], settings);
  expect(refused).toMatchObject({ exitCode: 1 });
  expect(refused.stderr).toContain('stop it first');

  await program.end();
  expect(await openpit(['restore', backup], settings)).toMatchObject({ exitCode: 2 });
  expect(await openpit(['restore', backup, '--force'], settings)).toMatchObject({ exitCode: 0 });
  expect(existsSync(join(settings.OPENPIT_DATA_DIR, 'openpit.db.before-restore'))).toBe(true);

  program = await Program.start(settings);
  const after = await program.get(path, key);
  expect(await after.json()).toMatchObject({ rates: { XAU: { close: 100 } } });
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag')); // another epoch
  expect(await openpit(['check'], settings)).toMatchObject({ exitCode: 0 });
}, 180_000);

test('the first start has the units that were leased when the backup was made, and no trace of the processes of that time', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  const created = await openpit(['account', 'create', '--name', 'A', '--plan', 'pro', '--json'], settings);
  const { account, key } = JSON.parse(created.stdout);
  program = await Program.start(settings);
  expect((await program.get('/symbols', key)).status).toBe(200);
  const backup = join(newFolder(), 'backup.db');
  expect(await openpit(['backup', backup], settings)).toMatchObject({ exitCode: 0 });
  await program.end();
  expect(await openpit(['restore', backup, '--force'], settings)).toMatchObject({ exitCode: 0 });
  const moved = join(newFolder(), 'moved.db');
  expect(await openpit(['move', '--to', moved], settings)).toMatchObject({ exitCode: 0, stderr: '' });
  const ledger = await Ledger.open(`sqlite://${join(settings.OPENPIT_DATA_DIR, 'openpit.db')}`, systemClock);
  try {
    expect((await ledger.replicas.list()).replicas).toEqual([]);
    expect(await ledger.quota.releaseLost()).toBe(1);
    expect(await ledger.quota.usage(account, periodOf(Date.now()))).toMatchObject({ behind: 0 });
    expect(await ledger.quota.check()).toEqual([]);
  } finally {
    await ledger.close();
  }
}, 180_000);

test('a restore looks for a service on the ledger that it replaces, whatever its data folder is', async () => {
  const served = join(newFolder(), 'served.db');
  const idle = join(newFolder(), 'idle.db');
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  for (const path of [served, idle])
    await importPrice({ ...settings, OPENPIT_DATABASE_URL: `sqlite://${path}` }, 100);
  const backup = join(newFolder(), 'backup.db');
  await openpit(['backup', backup, '--database-url', `sqlite://${served}`], settings);
  program = await Program.start({ ...settings, OPENPIT_DATABASE_URL: `sqlite://${served}` });
  const restore = (path: string, dataDir: string) =>
    openpit(['restore', backup, '--force', '--database-url', `sqlite://${path}`, '--data-dir', dataDir], {});
  for (const dataDir of [settings.OPENPIT_DATA_DIR, newFolder()]) {
    const { exitCode, stderr } = await restore(served, dataDir);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `openpit: a process is using the ledger at ${served}; stop it first\n`,
    });
    expect(await restore(idle, dataDir)).toMatchObject({ exitCode: 0 });
  }
  await program.end('SIGKILL');
  expect(await restore(served, settings.OPENPIT_DATA_DIR)).toMatchObject({ exitCode: 0 });
}, 180_000);

test('a backup to a place that cannot be written says why', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  const place = newFolder();
  const said = async (...args: string[]) => (await openpit(args, settings)).stderr;
  expect(await said('backup', join(place, 'none', 'a.db'))).toContain(`there is no folder ${place}/none;`);
  expect(await said('backup', place)).toContain(`${place} is a folder; add the name of a file`);
}, 60_000);

test('a copied data folder is restored with what is only in its write-ahead log, and stays as it was', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  await openpit(['account', 'create', '--name', 'A', '--plan', 'pro'], settings);
  program = await Program.start(settings);
  await openpit(['account', 'create', '--name', 'B', '--plan', 'pro'], settings);
  await program.end('SIGKILL');
  const copy = newFolder();
  const parts = readdirSync(settings.OPENPIT_DATA_DIR).filter((name) => /^openpit\.db(-wal)?$/.test(name));
  expect(parts).toHaveLength(2);
  for (const name of parts) copyFileSync(join(settings.OPENPIT_DATA_DIR, name), join(copy, name));
  const restored = { ...settings, OPENPIT_DATA_DIR: newFolder() };
  expect(await openpit(['restore', join(copy, 'openpit.db')], restored)).toMatchObject({ exitCode: 0 });
  const { stdout } = await openpit(['account', 'list', '--json'], restored);
  expect(JSON.parse(stdout)).toHaveLength(2);
  expect(readdirSync(copy).sort()).toEqual(parts.sort());
  expect(readdirSync(restored.OPENPIT_DATA_DIR).filter((name) => name.includes('partial'))).toEqual([]);
}, 60_000);

test('the file of a running service is not restored from', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  program = await Program.start(settings);
  const file = join(settings.OPENPIT_DATA_DIR, 'openpit.db');
  const { exitCode, stderr } = await openpit(['restore', file], { OPENPIT_DATA_DIR: newFolder() });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: `openpit: a process is using ${file}; write a backup of it first: openpit backup FILE\n`,
  });
}, 60_000);

test.skipIf(!canRunAsNobody)(
  "what root creates or restores in a user's folder belongs to that user",
  async () => {
    const folder = newFolder();
    chownSync(folder, 65_534, 65_534);
    const settings = { OPENPIT_DATA_DIR: folder, OPENPIT_DEMO: 'false' };
    const backup = join(newFolder(), 'backup.db');
    await openpit(['account', 'create', '--name', 'A', '--plan', 'basic'], settings);
    const list = () => openpitAsNobody(['account', 'list', '--json'], settings);
    expect(await list()).toMatchObject({ exitCode: 0 });
    await openpit(['backup', backup], settings);
    expect(await openpit(['restore', backup, '--force'], settings)).toMatchObject({ exitCode: 0 });
    expect(await list()).toMatchObject({ exitCode: 0 });
    for (const name of readdirSync(folder))
      expect([name, statSync(join(folder, name)).uid]).toEqual([name, 65_534]);
    expect(statSync(backup).uid).toBe(0);
    chownSync(join(folder, 'openpit.db'), 0, 0);
    const { exitCode, stderr } = await list();
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^openpit: user 65534 may not open ${folder}/openpit\\.db, which belongs to user 0; .*chown`,
      ),
    );
  },
  60_000,
);

test('a damaged backup is refused, and the ledger stays as it was', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  await importPrice(settings, 100);
  const backup = join(newFolder(), 'backup.db');
  await openpit(['backup', backup], settings);
  truncateSync(backup, Math.floor(statSync(backup).size / 2));
  const { exitCode, stderr } = await openpit(['restore', backup, '--force'], settings);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('not a complete ledger');
  expect(stderr).not.toContain('OPENPIT_DATA_DIR'); // the ledger is fine
  expect(existsSync(join(settings.OPENPIT_DATA_DIR, 'openpit.db.before-restore'))).toBe(false);
});

test('a backup is restored to a folder that does not exist yet, as on a new machine', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  await importPrice(settings, 100);
  const backup = join(newFolder(), 'backup.db');
  await openpit(['backup', backup], settings);
  const moved = { OPENPIT_DATA_DIR: join(newFolder(), 'new', 'data') };
  expect(await openpit(['restore', backup], moved)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(statSync(moved.OPENPIT_DATA_DIR).mode & 0o777).toBe(0o700);
  expect(await openpit(['check'], moved)).toMatchObject({ exitCode: 0 });
});

test.skipIf(process.getuid?.() !== 0)(
  'on a full disk, nothing is left of a backup or a restore',
  () =>
    withSmallDisk(16, async (folder) => {
      const settings = {
        OPENPIT_DATA_DIR: join(folder, 'data'),
        OPENPIT_DEMO: 'false',
        OPENPIT_ADMIN_TOKEN: 'a-long-token-of-the-operator',
      };
      const backup = join(newFolder(), 'backup.db');
      await openpit(['migrate'], settings);
      await openpit(['backup', backup], settings);
      program = await Program.start(settings);
      const fill = () => {
        const { bavail, bsize } = statfsSync(folder);
        appendFileSync(join(folder, 'filler'), new Uint8Array(Math.max(0, bavail * bsize - 65_536)));
      };
      fill();

      const full = await openpit(['backup', join(folder, 'copy.db')], settings);
      expect(full.exitCode).toBe(1);
      expect(full.stderr).toMatch(/^openpit: database or disk is full \(free space on the disk of .*\)\n$/);
      expect(readdirSync(folder).sort()).toEqual(['data', 'filler']);

      const prices = join(newFolder(), 'gold.csv');
      await Bun.write(prices, 'date,close\n2024-05-14,100\n');
      const refused = await openpit(['import', prices, '--symbol', 'XAU'], settings);
      expect(refused.stderr).toContain('openpit: the ledger is unavailable: its disk is nearly full');

      const headers = { authorization: `Bearer ${settings.OPENPIT_ADMIN_TOKEN}` };
      const response = await fetch(`${program.url}/admin/backups`, { method: 'POST', headers });
      expect(response.status).toBe(503);
      expect(await response.text()).toContain('its disk is full');
      expect(readdirSync(join(settings.OPENPIT_DATA_DIR, 'backups'))).toEqual([]);

      await program.end();
      fill(); // what the write-ahead log and the spool took
      const restored = await openpit(['restore', backup, '--force'], settings);
      expect(restored.exitCode).toBe(1);
      expect(readdirSync(settings.OPENPIT_DATA_DIR)).not.toContain('openpit.db.partial');
    }),
  180_000,
);

test('the ledger that a restore keeps includes the last writes of a killed service', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  await importPrice(settings, 100);
  const backup = join(newFolder(), 'backup.db');
  await openpit(['backup', backup], settings);
  program = await Program.start(settings);
  await openpit(['account', 'create', '--name', 'Last', '--plan', 'pro'], settings);
  await program.end('SIGKILL');
  const path = join(settings.OPENPIT_DATA_DIR, 'openpit.db');
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);

  expect(await openpit(['restore', backup, '--force'], settings)).toMatchObject({ exitCode: 0 });
  const names = async (file: string) => {
    const { stdout } = await openpit(['account', 'list'], { OPENPIT_DATABASE_URL: `sqlite://${file}` });
    return stdout;
  };
  expect(await names(path)).not.toContain('Last');
  expect(await names(`${path}.before-restore`)).toContain('Last');
}, 180_000);

test('on PostgreSQL, backup and restore name the tools to use instead', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DATABASE_URL: await newLedgerUrl('postgres') };
  for (const command of ['backup', 'restore']) {
    const { exitCode, stderr } = await openpit([command, 'x.db'], settings);
    expect([exitCode, stderr.includes('pg_dump')]).toEqual([2, true]);
  }
});
