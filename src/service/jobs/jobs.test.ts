import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readyLedgerUrl } from '../../../test/support/database/ready-ledger.ts';
import { newFolder } from '../../../test/support/ledger.ts';
import { type ImportRequest, JobRefused, UploadRefused } from '../../api/admin/service/operator-jobs.ts';
import { readConfig } from '../../config.ts';
import { JobRunner } from './jobs.ts';

const url = await readyLedgerUrl('sqlite');
const settings = { OPENPIT_DATABASE_URL: `sqlite://${url}`, OPENPIT_DATA_DIR: newFolder() };
const runner = new JobRunner(readConfig(settings, {}));

/** The reason why a file is refused. */
function refusalOf(content: string | Uint8Array, columns: ImportRequest['columns'] = {}): Promise<string> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const request = { name: 'upload', symbol: 'XAU', source: 'import', accept: false, dryRun: true };
  return runner.importFile({ ...request, bytes, columns }, undefined, 0).then(
    () => 'none',
    (error) => {
      if (error instanceof UploadRefused) return error.message;
      return error instanceof JobRefused ? 'needs a thread' : String(error);
    },
  );
}

/** What is refused while the only thread is busy is refused without one. */
async function whileBusy<T>(work: () => Promise<T>): Promise<T> {
  const busy = runner.check();
  try {
    return await work();
  } finally {
    await busy;
  }
}

test.each([
  ['{"a":1}', {}, 'the file is JSON, not a table'],
  ['<!doctype html><html></html>', {}, 'the file is a web page'],
  ['  \n\n', {}, 'the file is empty'],
  [
    'hello',
    {},
    'choose them with dateColumn and valueColumn or ohlcColumns, by name or by number from 1 (the file starts with "hello")',
  ],
  ['a\0b', {}, 'the file is not text'],
  ['date,close\n2024-05-14,1\n', { value: 'settle' }, 'settle'],
  [
    new Uint8Array([0xd0, 0xcf, 0x11, 0xe0]),
    {},
    'the file is an old Excel workbook (.xls), or is protected by a password',
  ],
])(
  'a small file without a table of prices is refused without a thread: %j %j',
  async (content, columns, reason) => {
    expect(await whileBusy(() => refusalOf(content, columns))).toContain(reason);
  },
);

test('a large or compressed file is read in a thread, and refused for the same reason', async () => {
  const small = await refusalOf('hello\n');
  for (const content of [`hello\n${'x\n'.repeat(20_000)}`, gzipSync('hello\n')]) {
    expect(await whileBusy(() => refusalOf(content))).toBe('needs a thread');
    expect(await refusalOf(content)).toBe(small);
  }
});

test('what an interrupted backup has left is deleted by the next one, unless it may still be written', async () => {
  const folder = join(settings.OPENPIT_DATA_DIR, 'backups');
  mkdirSync(folder);
  const [abandoned, recent] = ['openpit-20261101T000000Z.db.partial', 'openpit-20261101T000001Z.db.partial'];
  for (const name of [abandoned, recent]) writeFileSync(join(folder, name), 'x');
  utimesSync(join(folder, abandoned), 0, Date.now() / 1_000 - 3_601);
  const { name } = await runner.backup(Date.now());
  expect(readdirSync(folder).sort()).toEqual([recent, name].sort());
}, 30_000);

test('a usable file is imported in a thread', async () => {
  const csv = 'date,close\n1970-01-01,1\n';
  expect(await whileBusy(() => refusalOf(csv))).toBe('needs a thread');
  expect(await refusalOf(csv)).toBe('none');
});
