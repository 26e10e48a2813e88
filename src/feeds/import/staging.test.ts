import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { newFolder } from '../../../test/support/ledger.ts';
import { Staging } from './staging.ts';

const ROWS = 100_000;

test('the temporary file has no name, so that it is gone even if the program is killed', () => {
  const before = process.env.TMPDIR;
  const folder = newFolder();
  process.env.TMPDIR = folder;
  try {
    using staging = new Staging();
    for (let i = 0; i < ROWS; i++) staging.add(i % 10, ROWS - Math.floor(i / 10), i + 1, [i]);
    expect(readdirSync(folder)).toEqual([]);
    const bars = [...staging.batches([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], () => {})].flat();
    expect(bars.length).toBe(ROWS);
    expect(bars[0]).toMatchObject({ symbolId: 1, day: 90_001, close: 99_990, line: 99_991 });
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
});
