import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { newLedgerUrl } from '../../../test/support/ledger.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import { type Day, FIRST_DAY, utcDay } from '../../market/day.ts';
import { Board } from '../board.ts';

const START = Date.UTC(2026, 2, 6, 20);
const MINUTE = 60_000;
const DELAYS = [0, 10 * MINUTE, 60 * MINUTE];

async function openBoard() {
  const clock = { time: START, now: () => clock.time };
  const ledger = await Ledger.open(await newLedgerUrl('sqlite'), clock);
  const board = await Board.open({ ledger, clock, historyBytesMax: 1e9, simulated: true }, DELAYS);
  return { clock, ledger, board, gold: board.catalog.find('XAU')! };
}

type Opened = Awaited<ReturnType<typeof openBoard>>;

const source = fc.constantFrom(SIMULATED, 'feed', 'feed');
const daysAgo = fc.integer({ min: -1, max: 4 });
const price = fc.integer({ min: 1, max: 500 });
const step = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 0, max: 300 }) }),
  fc.record({ kind: fc.constant('bar' as const), source, daysAgo, price }),
  fc.record({
    kind: fc.constant('tick' as const),
    source,
    minutesAgo: fc.integer({ min: -5, max: 4_000 }),
    price,
  }),
  fc.record({ kind: fc.constant('withdraw' as const), daysAgo }),
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function perform({ clock, ledger, gold }: Opened, s: Step, id: number) {
  const symbolId = gold.symbol.id;
  const now = clock.time;
  if (s.kind === 'wait') clock.time += s.minutes * MINUTE;
  else if (s.kind === 'bar') {
    const ohlc = { open: s.price, high: s.price, low: s.price, close: s.price };
    await ledger.bars.publish([{ symbolId, day: utcDay(now) - s.daysAgo, ...ohlc }], {
      source: s.source,
      recordedAt: now,
    });
  } else if (s.kind === 'tick') {
    const at = now - s.minutesAgo * MINUTE;
    await ledger.ticks.append([{ symbolId, at, received: now, price: s.price, id: String(id) }], s.source);
  } else {
    const day = utcDay(now) - s.daysAgo;
    await ledger.withdrawals.withdraw([{ symbolId, day }], {
      by: 'operator',
      reason: 'wrong',
      recordedAt: now,
    });
  }
}

/** What answers about the days up to `day` show: their bars, and where the history begins if that is later. */
function shownUpTo({ board, gold }: Opened, delay: number, day: Day) {
  const view = board.view(delay);
  const first = view.firstDay(gold);
  const bars = view.bars(gold, FIRST_DAY, day).map((bar) => [bar.day, bar.close, bar.low, bar.sourceId]);
  return { bars, begins: first !== undefined && first > day ? first : 0 };
}

test('while the past version is unchanged, so is everything before the newest day, in every view', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 25 }), async (steps) => {
      const opened = await openBoard();
      const { board, clock, gold, ledger } = opened;
      const seen: { delay: number; day: Day; version: number; shown: unknown }[] = [];
      for (const [i, s] of steps.entries()) {
        await perform(opened, s, i);
        await board.follow(await ledger.head());
        await board.ready([gold], 'all', clock.time);
        for (const { delay, day, version, shown } of seen) {
          if (board.view(delay).pastVersion(gold) !== version) continue;
          expect(shownUpTo(opened, delay, day)).toEqual(shown as never);
        }
        for (const delay of DELAYS) {
          for (let day = utcDay(clock.time) - 5; board.view(delay).hasPassed(gold, day); day++) {
            const version = board.view(delay).pastVersion(gold);
            seen.push({ delay, day, version, shown: shownUpTo(opened, delay, day) });
          }
        }
      }
      await ledger.close();
    }),
    { numRuns: 50 },
  );
}, 120_000);

test('a tick of the newest day leaves the past version unchanged, and a correction of an earlier day does not', async () => {
  const opened = await openBoard();
  const { board, clock, gold, ledger } = opened;
  for (const days of [3, 1])
    await perform(opened, { kind: 'bar', source: 'feed', daysAgo: days, price: 5 }, 0);
  await perform(opened, { kind: 'tick', source: 'feed', minutesAgo: 0, price: 6 }, 1);
  await board.follow(await ledger.head());
  await board.ready([gold], 'all', clock.time);
  const view = board.view(0);
  const [version, past] = [view.version(gold), view.pastVersion(gold)];
  await perform(opened, { kind: 'tick', source: 'feed', minutesAgo: 0, price: 7 }, 2);
  await board.follow(await ledger.head());
  expect(view.version(gold)).toBeGreaterThan(version);
  expect(view.pastVersion(gold)).toBe(past);
  await perform(opened, { kind: 'bar', source: 'feed', daysAgo: 3, price: 8 }, 3);
  await board.follow(await ledger.head());
  expect(view.pastVersion(gold)).toBeGreaterThan(past);
  await ledger.close();
});

test('a view that shows nothing any more has passed no day, so its next price may be the first', async () => {
  const opened = await openBoard();
  const { board, clock, gold, ledger } = opened;
  const view = board.view(0);
  const tomorrow = utcDay(clock.time) + 1;
  const steps: Step[] = [
    { kind: 'bar', source: 'feed', daysAgo: -1, price: 1 },
    { kind: 'withdraw', daysAgo: -1 },
    { kind: 'bar', source: SIMULATED, daysAgo: -1, price: 1 },
  ];
  const passed: boolean[] = [];
  for (const s of steps) {
    await perform(opened, s, 0);
    await board.follow(await ledger.head());
    await board.ready([gold], 'all', clock.time);
    passed.push(view.hasPassed(gold, tomorrow - 1));
  }
  expect(passed).toEqual([true, false, true]);
  expect(view.firstDay(gold)).toBe(tomorrow);
  await ledger.close();
});
