import fc from 'fast-check';
import type { Board } from '../../src/board/board.ts';
import type { SymbolSeries } from '../../src/board/series/symbol-series.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { PROVISIONAL } from '../../src/ledger/prices/bars.ts';
import { SIMULATED } from '../../src/ledger/symbols/sources.ts';
import { utcDay } from '../../src/market/day.ts';

const MINUTE = 60_000;

const price = fc.integer({ min: -50, max: 500 }).map((cents) => cents / 4);
const source = fc.constantFrom(SIMULATED, 'feed', 'other');

/** One write to the ledger, or one thing that a board does between writes. */
export const BOARD_STEPS = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 0, max: 300 }) }),
  fc.record({
    kind: fc.constant('bar' as const),
    source,
    daysAgo: fc.integer({ min: -1, max: 4 }),
    price,
    recordedMinutesAgo: fc.integer({ min: 0, max: 90 }),
    isProvisional: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('old bars' as const),
    source,
    first: fc.integer({ min: 20, max: 900 }),
    price,
  }),
  fc.record({
    kind: fc.constant('tick' as const),
    source,
    minutesAgo: fc.integer({ min: -5, max: 2000 }),
    receivedMinutesAgo: fc.integer({ min: -5, max: 90 }),
    price,
    id: fc.integer({ min: 1, max: 30 }),
  }),
  fc.record({
    kind: fc.constant('withdraw' as const),
    daysAgo: fc.oneof(fc.integer({ min: -1, max: 4 }), fc.integer({ min: 20, max: 500 })),
    days: fc.constantFrom(1, 2, 500),
    recordedMinutesAgo: fc.integer({ min: -30, max: 90 }),
  }),
  fc.record({
    kind: fc.constant('revert' as const),
    daysAgo: fc.integer({ min: -1, max: 4 }),
    days: fc.constantFrom(1, 2, 5),
  }),
  fc.record({
    kind: fc.constant('ask' as const),
    loaded: fc.constantFrom('recent' as const, 'all' as const),
  }),
  fc.record({ kind: fc.constant('new delay' as const), minutes: fc.integer({ min: 2, max: 90 }) }),
  fc.record({ kind: fc.constant('follow' as const) }),
);

type BoardStep = typeof BOARD_STEPS extends fc.Arbitrary<infer S> ? S : never;

interface OpenedBoard {
  clock: { time: number };
  ledger: Ledger;
  board: Board;
  gold: SymbolSeries;
}

export async function takeStep({ clock, ledger, board, gold }: OpenedBoard, s: BoardStep): Promise<void> {
  const symbolId = gold.symbol.id;
  const now = clock.time;
  const barAt = (day: number, p: number) => ({
    symbolId,
    day,
    open: p,
    high: p + 2,
    low: p - 1,
    close: p + 1,
  });
  if (s.kind === 'wait') clock.time += s.minutes * MINUTE;
  if (s.kind === 'ask') await board.prepare([gold], s.loaded, now);
  if (s.kind === 'new delay') board.view(s.minutes * MINUTE);
  if (s.kind === 'follow') await board.follow(await ledger.head());
  if (s.kind === 'bar') {
    const recordedAt = now - s.recordedMinutesAgo * MINUTE;
    await ledger.bars.publish([barAt(utcDay(now) - s.daysAgo, s.price)], {
      source: s.source,
      recordedAt,
      ...(s.isProvisional && { reason: PROVISIONAL }),
    });
  }
  if (s.kind === 'old bars') {
    const days = Array.from({ length: 15 }, (_, i) => utcDay(now) - s.first - i * 40);
    await ledger.bars.publish(
      days.map((day) => barAt(day, s.price)),
      { source: s.source, recordedAt: now },
    );
  }
  if (s.kind === 'withdraw') {
    const days = Array.from({ length: s.days }, (_, i) => ({ symbolId, day: utcDay(now) - s.daysAgo - i }));
    const recordedAt = now - s.recordedMinutesAgo * MINUTE;
    await ledger.withdrawals.withdraw(days, { by: 'operator', reason: 'wrong', recordedAt });
  }
  if (s.kind === 'revert') {
    const days = Array.from({ length: s.days }, (_, i) => ({ symbolId, day: utcDay(now) - s.daysAgo - i }));
    await ledger.corrections.revert(days, { reason: 'was right', recordedAt: now });
  }
  if (s.kind === 'tick') {
    const tick = {
      symbolId,
      at: now - s.minutesAgo * MINUTE,
      received: now - s.receivedMinutesAgo * MINUTE,
      price: s.price,
      id: String(s.id),
    };
    await ledger.ticks.append([tick], s.source);
  }
}
