import { expect, test } from 'bun:test';
import type { BarRevision } from '../../../ledger/prices/bars.ts';
import { Columns } from './columns.ts';
import { SettledBarStore } from './settled-bar-store.ts';

const bar = (day: number): BarRevision => ({
  ...{ day, open: 1, high: 1, low: 1, close: 1 },
  ...{ revision: 1, sourceId: 2, recordedAt: 0, reason: null, withdrawn: false },
  ...{ restores: null, ticksWithdrawnUntil: undefined },
});

test('a bar that arrives while columns are replaced is in the old ones and in the new ones', async () => {
  const store = new SettledBarStore();
  await store.loadColumns(async () => new Columns(100));
  const reading = Promise.withResolvers<Columns>();
  const loading = store.loadColumns(() => reading.promise);
  store.add(bar(150));
  expect([store.columns!.from, store.columns!.length]).toEqual([100, 1]);
  reading.resolve(new Columns(0));
  await loading;
  expect([store.columns!.from, store.columns!.length]).toEqual([0, 1]);
});
