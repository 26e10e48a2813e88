import { afterEach, beforeEach, expect, test } from 'bun:test';
import { newFolder } from '../../../test/support/ledger.ts';
import { columnsOf } from '../model/table.ts';
import { ParquetAnswer } from './parquet-answer.ts';
import type { ParquetFile } from './parquet-file.ts';
import { ParquetFiles } from './parquet-files.ts';

const TEN_MINUTES = 600_000;

const clock = { time: 0, setByMs: 0, now: () => clock.time + clock.setByMs, elapsed: () => clock.time };
const timers: { at: number; callback: () => void }[] = [];
const scheduler = {
  after(ms: number, callback: () => void) {
    timers.push({ at: clock.time + ms, callback });
    return () => {};
  },
};
let files: ParquetFiles;

beforeEach(() => {
  timers.length = 0;
  clock.setByMs = 0;
  files = new ParquetFiles(newFolder(), clock, scheduler);
});

afterEach(() => files.close());

function pass(ms: number): void {
  const end = clock.time + ms;
  while (timers.length > 0 && timers[0]!.at <= end) {
    const { at, callback } = timers.shift()!;
    clock.time = at;
    callback();
  }
  clock.time = end;
}

/** Buys a file with one row. `charge` runs between its encoding and the purchase. */
function buy(etag: string, charge: () => void | Promise<void>) {
  const source = {
    units: async () => 1,
    async *text() {
      yield Buffer.from('{"symbol":"XAU"}\n');
    },
    release: async () => {},
  };
  const answer = new ParquetAnswer({ etag, finality: 'open', columns: columnsOf('symbol'), source });
  return files.buy(`acc ${etag}`, async () => {
    const file = await files.fileOf(answer, 'acc');
    await file.whileInUse(charge);
    return file;
  });
}

async function bytesReadFrom(file: ParquetFile): Promise<number> {
  const chunks = await Array.fromAsync(file.read({ start: 0, end: file.length }));
  return Buffer.concat(chunks).length;
}

test('the last file is deleted once its payment is ten minutes old, also if the charge took a moment', async () => {
  const file = await buy('"a"', () => pass(5));
  pass(TEN_MINUTES - 10);
  expect(files.bytes).toBe(file.length);
  pass(TEN_MINUTES);
  expect(files.bytes).toBe(0);
});

test('a file stays paid for the same time if the wall clock is set', async () => {
  const isBought = (isRange: boolean) => files.bought('acc "a"', isRange) !== undefined;
  await buy('"a"', () => {});
  clock.setByMs = 2 * TEN_MINUTES;
  expect([isBought(true), isBought(false), files.isPaid('acc "a"', '"a"')]).toEqual([true, true, true]);
  clock.setByMs = -2 * TEN_MINUTES;
  pass(TEN_MINUTES);
  expect([isBought(true), isBought(false), files.isPaid('acc "a"', '"a"')]).toEqual([false, false, false]);
});

test('a file is not deleted while its buyer is charged', async () => {
  await buy('"a"', () => {});
  pass(TEN_MINUTES - 1);
  const file = await buy('"b"', () => pass(10));
  expect(await bytesReadFrom(file)).toBe(file.length);
});

test('a file in use is not evicted, and the others are, whether too many files are written or no payment is recent', async () => {
  const buyMany = async () => {
    for (let i = 0; i < 100; i++) await buy(`"${i}"`, () => {});
  };
  const file = await buy('"a"', buyMany);
  expect(await bytesReadFrom(file)).toBe(file.length);
  await file.whileInUse(async () => {
    pass(2 * TEN_MINUTES);
    expect(files.bytes).toBe(file.length);
    expect(await bytesReadFrom(file)).toBe(file.length);
  });
  pass(TEN_MINUTES);
  expect(files.bytes).toBe(0);
});
