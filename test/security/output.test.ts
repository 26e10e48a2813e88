import { expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { writeTable } from '../../src/api/model/table.ts';
import { openSqlite } from '../../src/ledger/engine/sqlite/sqlite.ts';
import { newFolder } from '../support/ledger.ts';

test('no text in a CSV is a formula to a spreadsheet, and a negative price stays a number', () => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1']) {
    const columns = [
      { name: 'source', type: 'text' },
      { name: 'close', type: 'number' },
    ] as const;
    expect(writeTable({ columns, rows: [[text, '-37.63']] }, 'csv')).toContain(`'${text}`);
    expect(writeTable({ columns, rows: [[text, '-37.63']] }, 'csv')).toContain(',-37.63\r\n');
  }
});

test('only its owner can read a new data folder, because the ledger contains the webhook’s secret', async () => {
  const folder = join(newFolder(), 'data');
  const engine = await openSqlite(join(folder, 'openpit.db'), { now: () => 0 });
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  await engine.close();
});
