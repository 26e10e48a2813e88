import { afterEach, expect, test } from 'bun:test';
import fc from 'fast-check';
import { BOARD_STEPS, takeStep } from '../../test/support/board-steps.ts';
import { readyLedgerUrl } from '../../test/support/database/ready-ledger.ts';
import { shownByReference } from '../../test/support/exact/visible-prices.ts';
import type { Sql } from '../ledger/engine/rows.ts';
import { Ledger } from '../ledger/ledger.ts';
import { importName, noteRevision } from '../ledger/prices/imports.ts';
import { SIMULATED } from '../ledger/symbols/sources.ts';
import { FIRST_DAY, LAST_DAY, utcDay } from '../market/day.ts';
import { Board } from './board.ts';
import { loadedSince } from './series/load/load-level.ts';
import type { SourcedBar } from './series/price-types.ts';

/** Friday 2026-03-06, 15:00 in New York. */
const START = Date.UTC(2026, 2, 6, 20);
const MINUTE = 60_000;
const DELAYS = [0, 60 * MINUTE];

const level = fc.constantFrom('latest' as const, 'recent' as const, 'twoYears' as const, 'all' as const);
const STEPS = fc.oneof(
  { weight: 3, arbitrary: BOARD_STEPS.filter(({ kind }) => kind !== 'ask' && kind !== 'new delay') },
  {
    weight: 3,
    // So few days that they are added to what is loaded.
    arbitrary: fc.record({
      kind: fc.constant('backfill' as const),
      source: fc.constantFrom(SIMULATED, 'feed'),
      daysAgo: fc.integer({ min: 0, max: 1_500 }),
      days: fc.constantFrom(1, 3),
      mustUndo: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('undo' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('load' as const), level }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('load another' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('turn' as const), turns: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('compare' as const), level }) },
);
type Step = typeof STEPS extends fc.Arbitrary<infer S> ? S : never;

let opened: Ledger[] = [];
afterEach(async () => {
  for (const ledger of opened) await ledger.close();
  opened = [];
});

test('a board that evicts, extends and follows shows what the ledger has, whatever arrives during its loads', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEPS, { minLength: 4, maxLength: 40 }), async (steps) => {
      const run = await openRun();
      for (const step of steps) await run.take(step);
      await run.compare('twoYears');
      await run.compare('all');
      await run.close();
    }),
    { numRuns: 40 },
  );
}, 600_000);

async function openRun() {
  const clock = { time: START, now: () => clock.time };
  const url = await readyLedgerUrl('sqlite');
  const ledger = await Ledger.open(url, clock);
  const slow = slowly(await Ledger.open(url, clock));
  opened.push(ledger, slow);
  // Every load evicts the other histories.
  const board = await Board.open({ ledger: slow, clock, historyBytesMax: 1, simulated: true }, DELAYS);
  const [gold, silver] = ['XAU', 'XAG'].map((code) => board.catalog.find(code)!);
  const loads: Promise<void>[] = [];
  const imports: number[] = [];

  async function compare(wanted: 'latest' | 'recent' | 'twoYears' | 'all') {
    await board.follow(await ledger.head());
    await board.ready([gold!], wanted, clock.time);
    const since = wanted === 'twoYears' ? loadedSince('twoYears', clock.time) : FIRST_DAY;
    for (const delay of DELAYS) {
      const view = board.view(delay);
      const expected = await shownByReference(ledger, gold!.symbol, clock.time - delay);
      if (!gold!.has(wanted)) await board.ready([gold!], wanted, clock.time); // evicted meanwhile
      expect(view.latest(gold!)).toEqual(expected.latest);
      if (wanted === 'latest') continue;
      expect(view.firstDay(gold!)).toBe(expected.bars[0]?.day);
      expect(view.lastDay(gold!)).toBe(expected.bars.at(-1)?.day);
      if (wanted === 'recent') continue;
      const bars = view.bars(gold!, since, LAST_DAY).map(plain);
      expect(bars).toEqual(expected.bars.filter(({ day }) => day >= since));
    }
  }

  async function take(step: Step): Promise<void> {
    if (step.kind === 'load') loads.push(board.ready([gold!], step.level, clock.time));
    else if (step.kind === 'load another') loads.push(board.ready([silver!], 'twoYears', clock.time));
    else if (step.kind === 'turn') for (let i = 0; i < step.turns; i++) await turn();
    else if (step.kind === 'compare') await compare(step.level);
    else if (step.kind === 'undo') {
      const run = imports.pop();
      if (run) await ledger.imports.undo(run, clock.time, () => {});
    } else if (step.kind === 'backfill') {
      const { source, daysAgo, days, mustUndo } = step;
      const number = mustUndo ? await ledger.imports.begin('prices.csv', source, clock.time) : undefined;
      const bars = Array.from({ length: days }, (_, i) => ({
        symbolId: gold!.symbol.id,
        day: utcDay(clock.time) - daysAgo - i,
        open: daysAgo,
        high: daysAgo + 1,
        low: daysAgo,
        close: daysAgo + 1,
      }));
      const after = (tx: Sql, revision: number) => noteRevision(tx, importName(number ?? 0), revision);
      await ledger.bars.publish(bars, { source, recordedAt: clock.time, ...(number && { after }) });
      if (number) imports.push(number);
    } else await takeStep({ clock, ledger, board, gold: gold! }, step as Parameters<typeof takeStep>[1]);
  }

  async function close() {
    await Promise.all(loads);
    for (const one of opened) await one.close();
    opened = [];
  }

  return { take, compare, close };
}

/** Every read of bars takes some turns of the event loop, so that writes and other loads come between two of them. */
function slowly(ledger: Ledger): Ledger {
  let reads = 0;
  const { bars } = ledger;
  const slow = (store: object, name: string) => {
    const read = (store as Record<string, (...args: unknown[]) => Promise<unknown>>)[name]!.bind(store);
    const delayed = async (...args: unknown[]) => {
      const turns = reads++ % 3;
      for (let i = 0; i < turns; i++) await turn();
      const found = await read(...args);
      for (let i = 0; i < turns; i++) await turn();
      return found;
    };
    Object.assign(store, { [name]: delayed });
  };
  for (const name of ['firstDay', 'revisions', 'history']) slow(bars, name);
  for (const name of ['span', 'since']) slow(bars.recent, name);
  return ledger;
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function plain({ day, open, high, low, close, sourceId }: SourcedBar): SourcedBar {
  return { day, open, high, low, close, sourceId };
}
