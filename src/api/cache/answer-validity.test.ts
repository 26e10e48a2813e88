import { expect, test } from 'bun:test';
import type { Board } from '../../board/board.ts';
import { Catalog } from '../../board/catalog.ts';
import { SymbolSeries } from '../../board/series/symbol-series.ts';
import { View } from '../../board/views/view.ts';
import { AnswerValidity } from './answer-validity.ts';

const MINUTE = 60_000;
/** Ten minutes into a quarter of an hour. */
const NOW = Date.UTC(2026, 10, 16, 12, 10);

interface Given {
  delayMs?: number;
  lateFrom?: number;
  changesEverySecond?: boolean;
  lastDay?: number;
}

/** Of an answer from two series. The newest day of one is 100, the other one has none yet. */
function validity({
  delayMs = 0,
  lateFrom = Number.POSITIVE_INFINITY,
  changesEverySecond = false,
  lastDay,
}: Given = {}) {
  const board = { catalog: { id: 1 } };
  const version = ++SymbolSeries.lastVersion;
  const behind = {
    versions: [version],
    pastVersions: [version],
    newestDays: [Number.NEGATIVE_INFINITY],
    lateFrom,
  };
  const one = { ...behind, newestDays: [100] };
  const sources = { view: new View(delayMs, 0), version, now: NOW, changesEverySecond, lastDay };
  const own = new AnswerValidity({
    ...sources,
    board: board as unknown as Board,
    series: [behind, one] as unknown as SymbolSeries[],
  });
  return { own, board, one, behind };
}

test('an answer holds until the next quarter of an hour of the clock or of the horizon, and not before its own', () => {
  const { own } = validity();
  expect([-10.1, -10, 0, 4.9, 5].map((minutes) => own.isValidAt(NOW + minutes * MINUTE))).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
  const late = validity({ delayMs: 8 * MINUTE }).own; // its horizon is 12:02
  expect([-2.1, -2, 4.9, 5].map((minutes) => late.isValidAt(NOW + minutes * MINUTE))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test('an answer holds until a feed becomes late in its view, and one about dates for a second', () => {
  const { own } = validity({ delayMs: MINUTE, lateFrom: NOW });
  expect([0, 59_999, 60_000].map((ms) => own.isValidAt(NOW + ms))).toEqual([true, true, false]);
  const dated = validity({ changesEverySecond: true }).own;
  expect([-1, 0, 999, 1_000].map((ms) => dated.isValidAt(NOW + ms))).toEqual([false, true, true, false]);
});

test('an answer holds while other series change, and not once one of its own or the catalogue has', () => {
  const { own, one, board } = validity();
  SymbolSeries.lastVersion++;
  expect(own.isValidAt(NOW)).toBe(true);
  const [before] = one.versions;
  one.versions = [++SymbolSeries.lastVersion];
  expect(own.isValidAt(NOW)).toBe(false);
  one.versions = [before!];
  expect(own.isValidAt(NOW)).toBe(true);
  board.catalog = { id: 2 };
  expect(own.isValidAt(NOW)).toBe(false);
});

test('an answer about earlier days holds when the newest day changes, until one of the earlier days does', () => {
  const past = validity({ lastDay: 99 });
  const newest = validity({ lastDay: 100 });
  for (const { one } of [past, newest]) one.versions = [++SymbolSeries.lastVersion];
  expect(past.own.isValidAt(NOW)).toBe(true);
  expect(newest.own.isValidAt(NOW)).toBe(false);
  past.one.versions = past.one.pastVersions = [++SymbolSeries.lastVersion];
  expect(past.own.isValidAt(NOW)).toBe(false);
});

test('an answer about earlier days of one series holds until the newest day of another one changes', () => {
  const { own, one, behind } = validity({ lastDay: 99 });
  one.versions = [++SymbolSeries.lastVersion];
  expect(own.isValidAt(NOW)).toBe(true);
  behind.versions = [++SymbolSeries.lastVersion];
  expect(own.isValidAt(NOW)).toBe(false);
});

test('cached answers and suggestions do not keep earlier catalogues in memory', async () => {
  const sources = { series: [], view: new View(0, 0), version: 0, now: NOW, changesEverySecond: false };
  const board = { catalog: {} } as unknown as { catalog: Catalog } & Board;
  const cached: AnswerValidity[] = [];
  const catalogs: WeakRef<Catalog>[] = [];
  for (let i = 0; i < 100; i++) {
    board.catalog = new Catalog({ symbols: [], aliases: [], currencies: [], formulas: [] }, new Map());
    board.catalog.nearest(`UNKNOWN${i}`);
    catalogs.push(new WeakRef(board.catalog));
    cached.push(new AnswerValidity({ ...sources, board }));
  }
  await Bun.sleep(0); // a WeakRef holds its object until the end of the turn
  Bun.gc(true);
  expect(catalogs.filter((one) => one.deref()).length).toBeLessThan(20);
  expect(cached.filter((own) => own.isValidAt(NOW))).toHaveLength(1);
});
