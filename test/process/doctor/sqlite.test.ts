import { Database } from 'bun:sqlite';
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, existsSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadFixture } from '../../schemas/fixture.ts';
import { canRunAsNobody, openpitAsNobody } from '../../support/as-nobody.ts';
import { DamagedTable } from '../../support/database/damaged-ledger.ts';
import { newFolder } from '../../support/ledger.ts';
import { Doctor } from '../../support/monitoring/doctor.ts';
import { eventually, openpit, openpitOnTerminal, Program } from '../../support/program.ts';
import { withSmallDisk } from '../../support/small-disk.ts';
import { WallClock } from '../../support/wall-clock.ts';

setDefaultTimeout(180_000);

let program: Program | undefined;
afterEach(async () => {
  await program?.end('SIGKILL');
  program = undefined;
});

/** A ledger with an account. */
async function newLedger(): Promise<{ settings: Record<string, string>; path: string }> {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  await openpit(['account', 'create', '--name', 'A', '--plan', 'basic'], settings);
  return { settings, path: join(settings.OPENPIT_DATA_DIR, 'openpit.db') };
}

test('a missing ledger is a warning, and is not created', async () => {
  const folder = newFolder();
  const doctor = await Doctor.run({ OPENPIT_DATA_DIR: folder });
  expect(doctor.of('ledger.present')[0]).toMatch(/^warning: there is no ledger at .*openpit\.db/);
  expect(existsSync(join(folder, 'openpit.db'))).toBe(false);
  expect(doctor.exitCode).toBe(0);
});

test('an empty file in place of the ledger is named, with the setting of its folder', async () => {
  const folder = newFolder();
  const path = join(folder, 'openpit.db');
  writeFileSync(path, '', { mode: 0o600 });
  const doctor = await Doctor.run({ OPENPIT_DATA_DIR: folder });
  expect(doctor.of('ledger.schema')).toEqual([
    `warning: ${path} holds no ledger yet → the first start or openpit migrate creates it. If there should be one, set OPENPIT_DATA_DIR to its folder`,
  ]);
  expect(doctor.exitCode).toBe(0);
});

test('on a terminal, help and findings are wrapped to its width', async () => {
  const { settings } = await newLedger();
  const cols = 60;
  for (const args of [['doctor'], ['help', 'doctor'], ['help']]) {
    let text = '';
    const child = openpitOnTerminal(args, settings, {
      cols,
      rows: 24,
      data: (_, chunk) => {
        text += new TextDecoder().decode(chunk);
      },
    });
    expect(await child.exited).toBe(0);
    await eventually(async () => text.split('\n').length > 10); // the terminal delivers it later
    const lines = text.split(/\r?\n/);
    expect(lines.filter((line) => Bun.stringWidth(line) > cols && line.trim().includes(' '))).toEqual([]);
  }
});

test('a data folder that is a file, or below one, is a problem that names the file', async () => {
  const file = join(newFolder(), 'file');
  writeFileSync(file, '');
  for (const folder of [file, join(file, 'data')]) {
    const doctor = await Doctor.run({ OPENPIT_DATA_DIR: folder });
    expect(doctor.of('disk.folder')).toEqual([
      `problem: ${file} is not a folder → move the file away, or set OPENPIT_DATA_DIR to another folder`,
    ]);
    expect(doctor.of('ledger.permissions')).toEqual([]);
    expect(doctor.of('disk.unchecked')).toEqual([]);
    expect(doctor.exitCode).toBe(1);
  }
});

test('an intact ledger of this version has no problem, even beside a running server', async () => {
  const { settings } = await newLedger();
  program = await Program.start(settings);
  const doctor = await Doctor.run(settings);
  expect(doctor.of('ledger.pages')[0]).toMatch(/^ok/);
  expect(doctor.of('ledger.schema')[0]).toMatch(/^ok/);
  expect(doctor.of('processes.live')[0]).toMatch(/^ok: 1 running: .*\/\d+ \(ready\)$/);
  expect(doctor.of('disk.spool')[0]).toMatch(/^ok: the spool is in use/);
  expect(doctor.exitCode).toBe(0);
  expect((await program.get('/health', '')).status).toBe(200);
});

test('a damaged page is a problem, with openpit restore as its fix', async () => {
  const { settings, path } = await newLedger();
  new DamagedTable(path, 'account').damage();
  const doctor = await Doctor.run(settings);
  expect(doctor.exitCode).toBe(1);
  expect(doctor.of('ledger.pages')[0]).toMatch(/^problem: .*→ .*openpit restore/);
});

test('a file that is not a database is a problem', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'openpit.db'), 'This is not a SQLite file. '.repeat(400), {
    mode: 0o600,
  });
  const doctor = await Doctor.run({ OPENPIT_DATA_DIR: folder });
  expect(doctor.of('ledger.pages')[0]).toMatch(
    /^problem: the SQLite file cannot be checked: file is not a database/,
  );
  expect(doctor.of('disk.room')[0]).toMatch(/^ok/);
});

test('an older schema is a warning and is not migrated, a newer one is a problem', async () => {
  const url = await loadFixture(12, 'sqlite');
  const older = await Doctor.run({ OPENPIT_DATABASE_URL: `sqlite://${url}`, OPENPIT_DATA_DIR: newFolder() });
  expect(older.of('ledger.schema')[0]).toMatch(/^warning: the ledger has schema 12, .*openpit migrate/);
  const database = new Database(url);
  expect(database.query('SELECT max(id) FROM migration').values()).toEqual([[12]]);
  database.close();
  const { settings, path } = await newLedger();
  const newer = new Database(path);
  newer.run("INSERT INTO migration (id, title) VALUES (999, 'from the future')");
  newer.close();
  expect((await Doctor.run(settings)).of('ledger.schema')[0]).toMatch(/^problem: the ledger has schema 999/);
});

test('files that others can read are a warning, with the command that fixes it', async () => {
  const { settings, path } = await newLedger();
  chmodSync(path, 0o644);
  const doctor = await Doctor.run(settings);
  expect(doctor.of('disk.modes')[0]).toMatch(/^warning: other users can read .*openpit\.db.* → chmod 600/);
});

test.skipIf(process.getuid?.() !== 0)(
  'a file that belongs to another user than its folder is a problem',
  async () => {
    const { settings, path } = await newLedger();
    Bun.spawnSync(['chown', '65534', path]);
    expect((await Doctor.run(settings)).of('disk.owner')[0]).toMatch(/^problem: .*openpit\.db.*chown/);
  },
);

test.skipIf(!canRunAsNobody)(
  'a data folder that this user may not enter is a problem, and not a missing ledger',
  async () => {
    const { settings } = await newLedger();
    chmodSync(settings.OPENPIT_DATA_DIR!, 0o700);
    const doctor = await Doctor.run(settings, openpitAsNobody);
    expect(doctor.of('ledger.present')).toEqual([]);
    expect(doctor.of('ledger.permissions')[0]).toMatch(/^problem: this user cannot write to .*openpit\.db/);
    expect(doctor.exitCode).toBe(1);
  },
);

test('counts of a killed process in the spool, and damaged spool files, are reported', async () => {
  const { settings } = await newLedger();
  const { stdout } = await openpit(
    ['account', 'create', '--name', 'B', '--plan', 'basic', '--json'],
    settings,
  );
  program = await Program.start(settings);
  expect((await program.get('/symbols', JSON.parse(stdout).key)).status).toBe(200);
  await program.end('SIGKILL');
  program = undefined;
  expect((await Doctor.run(settings)).of('disk.spool')[0]).toMatch(
    /^warning: the spool holds counts of 1 lease that/,
  );
  writeFileSync(join(settings.OPENPIT_DATA_DIR!, 'spool', '0-0.v4.spool.damaged'), '');
  expect((await Doctor.run(settings)).of('disk.spool')[0]).toMatch(/^warning: the spool has damaged files/);
});

const lacks = WallClock.lacks();
test.skipIf(lacks !== undefined)(
  'a clock that a start would refuse is a problem, seconds are a warning',
  async () => {
    const { settings } = await newLedger();
    const file = join(newFolder(), 'gold.csv');
    const rows = Array.from(
      { length: 30 },
      (_, i) => `2024-03-${String(i + 1).padStart(2, '0')},${2_000 + i}`,
    );
    await Bun.write(file, `date,close\n${rows.join('\n')}\n`);
    expect((await openpit(['import', file, '--symbol', 'XAU'], settings)).exitCode).toBe(0);
    const clock = new WallClock();
    const at = async (ms: number) => {
      clock.setByMs = ms;
      const doctor = await Doctor.run({ ...settings, ...clock.settings });
      return [...doctor.of('clock.plausible'), ...doctor.of('clock.writes')][0];
    };
    expect(await at(0)).toMatch(/^ok/);
    expect(await at(-60_000)).toMatch(/^warning: the newest write to the ledger is \d\d\.\d s in the future/);
    expect(await at(-20 * 86_400_000)).toMatch(/^problem: This machine's clock says/);
  },
);

test.skipIf(process.getuid?.() !== 0)('a full disk is a problem', () =>
  withSmallDisk(16, async (folder) => {
    const settings = { OPENPIT_DATA_DIR: join(folder, 'data'), OPENPIT_DEMO: 'false' };
    await openpit(['migrate'], settings);
    writeFileSync(join(folder, 'filler'), new Uint8Array(14.5 * 1024 * 1024));
    const doctor = await Doctor.run(settings);
    expect(doctor.of('disk.room')[0]).toMatch(/^problem: .*no prices are accepted/);
    expect(doctor.of('disk.memory')[0]).toMatch(/^warning: the data folder .* is in memory/);
  }),
);

test.skipIf(process.getuid?.() !== 0)(
  'a disk without inodes is a problem, and the fix is to delete files',
  () =>
    withSmallDisk(
      16,
      async (folder) => {
        const settings = { OPENPIT_DATA_DIR: join(folder, 'data'), OPENPIT_DEMO: 'false' };
        await openpit(['migrate'], settings);
        for (let i = 0; statfsSync(folder).ffree > 2; i++) writeFileSync(join(folder, `${i}`), '');
        const doctor = await Doctor.run(settings);
        expect(doctor.of('disk.inodes')[0]).toMatch(
          /^problem: .* has \d of 400 inodes free .*→ delete files/,
        );
      },
      400,
    ),
);
