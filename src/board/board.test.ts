import { afterEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { BOARD_STEPS, takeStep } from '../../test/support/board-steps.ts';
import { readyLedgerUrl } from '../../test/support/database/ready-ledger.ts';
import { statementsOf } from '../../test/support/database/statements.ts';
import { shownByReference } from '../../test/support/exact/visible-prices.ts';
import { Ledger } from '../ledger/ledger.ts';
import { PROVISIONAL } from '../ledger/prices/bars.ts';
import { FIRST_DAY, LAST_DAY, printDay, utcDay } from '../market/day.ts';
import { Board } from './board.ts';
import type { SourcedBar } from './series/price-types.ts';
import type { SymbolSeries } from './series/symbol-series.ts';

/** Friday 2026-03-06, 15:00 in New York: two days before daylight saving time starts. */
const START = Date.UTC(2026, 2, 6, 20);
const MINUTE = 60_000;
const DELAYS = [0, MINUTE, 10 * MINUTE, 60 * MINUTE];

let open: { ledger: Ledger }[] = [];
afterEach(async () => {
  for (const { ledger } of open) await ledger.close();
  open = [];
});

async function openBoard() {
  const clock = { time: START, now: () => clock.time };
  const ledger = await Ledger.open(await readyLedgerUrl('sqlite'), clock);
  const board = await Board.open({ ledger, clock, historyBytesMax: 1e9, simulated: true }, DELAYS);
  open.push({ ledger });
  return { clock, ledger, board, gold: board.catalog.find('XAU')! };
}

type Opened = Awaited<ReturnType<typeof openBoard>>;

/** Expects every view to match the slow reference. */
async function expectLikeReference({ clock, ledger, board }: Opened, series: SymbolSeries): Promise<void> {
  for (const delay of DELAYS) {
    await board.prepare([series], 'all', clock.time);
    const view = board.view(delay);
    const expected = await shownByReference(ledger, series.symbol, clock.time - delay);
    expect(view.bars(series, FIRST_DAY, LAST_DAY).map(plain)).toEqual(expected.bars);
    expect(view.latest(series)).toEqual(expected.latest);
    expect(view.firstDay(series)).toBe(expected.bars[0]?.day);
    expect(view.lastDay(series)).toBe(expected.bars.at(-1)?.day);
    const day = utcDay(clock.time);
    const onOrBefore = expected.bars.findLast((bar) => bar.day <= day && bar.day >= day - 14);
    const found = view.barOnOrBefore(series, day, day - 14);
    expect(found && plain(found)).toEqual(onOrBefore);
  }
}

function plain({ day, open, high, low, close, sourceId }: SourcedBar): SourcedBar {
  return { day, open, high, low, close, sourceId };
}

describe('the board', () => {
  test('shows in every view what the contract says, whatever arrived in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(BOARD_STEPS, { minLength: 1, maxLength: 30 }), async (steps) => {
        const opened = await openBoard();
        for (const s of steps) {
          await takeStep(opened, s);
          if (s.kind !== 'ask') continue;
          await opened.board.follow(await opened.ledger.head());
          await expectLikeReference(opened, opened.gold);
        }
        await opened.board.follow(await opened.ledger.head());
        await expectLikeReference(opened, opened.gold);
        await opened.ledger.close();
        open = [];
      }),
      { numRuns: 60 },
    );
  }, 180_000);

  test('knows the first and the last date in every view without loading prices, whatever arrived', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(BOARD_STEPS, { minLength: 1, maxLength: 20 }), async (steps) => {
        const opened = await openBoard();
        const { clock, ledger, board, gold } = opened;
        for (const s of steps) {
          if (s.kind !== 'ask') await takeStep(opened, s);
          await board.follow(await ledger.head());
          for (const delay of DELAYS) {
            await board.ready([gold], 'dates', clock.time);
            const { bars } = await shownByReference(ledger, gold.symbol, clock.time - delay);
            const view = board.view(delay);
            expect([view.firstDay(gold), view.lastDay(gold)]).toEqual([bars[0]?.day, bars.at(-1)?.day]);
          }
          if (s.kind === 'ask') gold.reset(); // so that loaded prices do not hide the dates
        }
        await ledger.close();
        open = [];
      }),
      { numRuns: 40 },
    );
  }, 180_000);

  test('shows in every view each of thousands of ticks at its time, even if they arrive out of order', async () => {
    const opened = await openBoard();
    const { clock, ledger, board, gold } = opened;
    await board.prepare([gold], 'all', clock.time);
    const symbolId = gold.symbol.id;
    let made = 0;
    for (let minute = 0; minute < 75; minute++) {
      const ticks = Array.from({ length: 30 }, () => {
        made++;
        const received = clock.time + (made % 5) * 7_000;
        const at = received + (made % 11 === 0 ? 9_000 : -made % 13);
        return { symbolId, at, received, price: 100 + Math.sin(made) * 50, id: `${made}` };
      });
      await ledger.ticks.append(ticks, 'feed');
      await board.follow(await ledger.head());
      clock.time += MINUTE + (minute % 7) * 501;
      if (minute % 9 === 8) await expectLikeReference(opened, gold);
    }
  });

  test('a tick after the settlement wins in every view until the final bar arrives, however late', async () => {
    const opened = await openBoard();
    const { clock, ledger, board, gold } = opened;
    const symbolId = gold.symbol.id;
    const tick = (price: number) => ({
      symbolId,
      at: clock.time,
      received: clock.time,
      price,
      id: `${price}`,
    });
    await ledger.ticks.append([tick(10)], 'feed');
    const settlement = { symbolId, day: utcDay(START), open: 10, high: 20, low: 10, close: 20 };
    await ledger.bars.publish([settlement], {
      source: 'feed',
      recordedAt: clock.time,
      reason: PROVISIONAL,
    });
    clock.time += MINUTE;
    await ledger.ticks.append([tick(30)], 'feed');
    await board.follow(await ledger.head());
    for (const minutes of [0, 5, 60, 180, 600]) {
      clock.time = START + (1 + minutes) * MINUTE;
      await expectLikeReference(opened, gold);
    }
    expect(board.view(60 * MINUTE).latest(gold)!.price).toBe(30);
  });

  test('a version changes if and only if the view shows something else', async () => {
    const opened = await openBoard();
    const { clock, ledger, board, gold } = opened;
    await board.prepare([gold], 'recent', clock.time);
    const versions = () => DELAYS.map((delay) => board.view(delay).version(gold));
    const before = versions();
    await ledger.ticks.append(
      [{ symbolId: gold.symbol.id, at: clock.time, received: clock.time, price: 5, id: 'a' }],
      'feed',
    );
    await board.follow(await ledger.head());
    const after = versions();
    expect(after[0]).not.toBe(before[0]!);
    expect(after.slice(1)).toEqual(before.slice(1));
    clock.time += 10 * MINUTE;
    await board.prepare([gold], 'recent', clock.time);
    expect(versions().map((version, i) => version !== after[i])).toEqual([false, true, true, false]);
  });

  test('evicts the least recently used history when over its memory limit, and loads it again', async () => {
    const { clock, ledger } = await openBoard();
    const board = await Board.open({ ledger, clock, historyBytesMax: 150_000, simulated: true }, DELAYS);
    const [gold, silver, copper] = ['XAU', 'XAG', 'HG-SPOT'].map((code) => board.catalog.find(code)!);
    for (const series of [gold!, silver!, copper!]) {
      const bars = Array.from({ length: 2000 }, (_, i) => ({
        symbolId: series.symbol.id,
        day: 10_000 + i,
        open: i,
        high: i,
        low: i,
        close: i,
      }));
      await ledger.bars.publish(bars, { source: 'feed', recordedAt: clock.time });
    }
    await board.follow(await ledger.head());
    for (const series of [gold!, silver!, copper!]) await board.prepare([series], 'all', clock.time);
    expect([gold!.loaded, silver!.loaded, copper!.loaded]).toEqual(['recent', 'recent', 'all']);
    expect(board.bytes).toBeLessThan(150_000);
    await board.prepare([gold!], 'all', clock.time);
    expect(board.view(0).bars(gold!, 10_000, 12_000)).toHaveLength(2000);
  });

  test('the history of a series with recent prices is added without a new version or another read of them', async () => {
    const { clock, ledger, board, gold } = await openBoard();
    const bars = Array.from({ length: 100 }, (_, i) => {
      return { symbolId: gold.symbol.id, day: 10_000 + i, open: i, high: i, low: i, close: i };
    });
    await ledger.bars.publish(bars, { source: 'feed', recordedAt: clock.time });
    await board.follow(await ledger.head());
    await board.prepare([gold], 'recent', clock.time);
    const { versions } = gold;
    const statements = await statementsOf(ledger, async () => {
      await board.prepare([gold], 'all', clock.time);
    });
    expect(gold.versions).toBe(versions);
    expect(statements.filter(({ text }) => text.includes('tick'))).toEqual([]);
    expect(
      board
        .view(0)
        .bars(gold, 10_000, 10_099)
        .map(({ close }) => close),
    ).toEqual(bars.map(({ close }) => close));
  });

  test('a long history is read in parts without missing what arrives meanwhile', async () => {
    const { clock, ledger, board, gold } = await openBoard();
    const bar = (day: number, price: number) => {
      return { symbolId: gold.symbol.id, day, open: price, high: price, low: price, close: price };
    };
    const days = Array.from({ length: 20_000 }, (_, i) => i).filter((day) => day % 7 < 5 || day > 19_990);
    await ledger.bars.publish(
      days.map((day) => bar(day, day)),
      { source: 'feed', recordedAt: clock.time },
    );
    await board.follow(await ledger.head());
    const part = holdFirstPart(ledger);
    const loading = board.prepare([gold], 'all', clock.time);
    await part.isRead;
    await ledger.bars.publish([bar(0, 1_000), bar(5, 5)], { source: 'feed', recordedAt: clock.time });
    await board.follow(await ledger.head());
    part.resume();
    await loading;
    const bars = board.view(0).bars(gold, FIRST_DAY, LAST_DAY);
    expect(bars.map(({ day }) => day)).toEqual([...days, 5].sort((a, b) => a - b));
    expect(bars[0]!.close).toBe(1_000);
  });

  test('a history that is added to recent prices misses nothing that changes meanwhile', async () => {
    const { clock, ledger, board, gold } = await openBoard();
    const bar = (day: number, price: number) => {
      return { symbolId: gold.symbol.id, day, open: price, high: price, low: price, close: price };
    };
    const days = Array.from({ length: 20_000 }, (_, i) => i);
    await ledger.bars.publish(
      days.map((day) => bar(day, day)),
      { source: 'feed', recordedAt: clock.time },
    );
    await board.follow(await ledger.head());
    await board.prepare([gold], 'recent', clock.time);
    const part = holdFirstPart(ledger);
    const loading = board.prepare([gold], 'all', clock.time);
    await part.isRead;
    expect(gold.loaded).toBe('recent');
    await ledger.bars.publish([bar(0, 1_000), bar(19_999, 5)], { source: 'feed', recordedAt: clock.time });
    const withdrawn = [{ symbolId: gold.symbol.id, day: 1 }];
    await ledger.withdrawals.withdraw(withdrawn, { by: 'operator', reason: 'wrong', recordedAt: clock.time });
    await board.follow(await ledger.head());
    part.resume();
    await loading;
    const bars = board.view(0).bars(gold, FIRST_DAY, LAST_DAY);
    expect(bars.map(({ day }) => day)).toEqual(days.filter((day) => day !== 1));
    expect([bars[0]!.close, bars.at(-1)!.close]).toEqual([1_000, 5]);
  });

  test('reloads everything when the epoch changes', async () => {
    const { clock, ledger, board, gold } = await openBoard();
    const bar = { symbolId: gold.symbol.id, day: 10_000, open: 1, high: 1, low: 1, close: 1 };
    await ledger.bars.publish([bar], { source: 'feed', recordedAt: clock.time });
    await board.follow(await ledger.head());
    await board.prepare([gold], 'all', clock.time);
    expect(printDay(board.view(0).lastDay(gold)!)).toBe(printDay(10_000));
    await ledger.engine.write(async (tx) => {
      await tx`DELETE FROM bar`;
      await tx`UPDATE meta SET value = 'restored' WHERE name = 'epoch'`;
    });
    await board.follow(await ledger.head());
    await board.prepare([gold], 'all', clock.time);
    expect(board.view(0).lastDay(gold)).toBeUndefined();
  });
});

/** The next history's first part is read, and held back until `resume` is called. */
function holdFirstPart({ bars }: Ledger): { isRead: Promise<void>; resume: () => void } {
  const history = bars.history.bind(bars);
  const [reading, holding] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  bars.history = async (...range) => {
    bars.history = history;
    const rows = await history(...range);
    reading.resolve();
    await holding.promise;
    return rows;
  };
  return { isRead: reading.promise, resume: holding.resolve };
}
