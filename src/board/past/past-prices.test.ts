import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readyLedgerUrl } from '../../../test/support/database/ready-ledger.ts';
import { historyByReference } from '../../../test/support/exact/visible-prices.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { newSymbol } from '../../../test/support/ledgers.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import { FIRST_DAY, LAST_DAY, MS_PER_DAY, utcDay } from '../../market/day.ts';
import { TRADED_AHEAD_DAYS } from '../../market/session.ts';
import { Board } from '../board.ts';
import type { Series } from '../series/series.ts';
import { PastPrices } from './past-prices.ts';
import type { PastMoment } from './visible-history.ts';

/** Friday 2026-03-06, 15:00 in New York. */
const NOW = Date.UTC(2026, 2, 6, 20);
const MINUTE = 60_000;

const minutesAgo = fc.integer({ min: 0, max: 6_000 });
const price = fc.integer({ min: -50, max: 500 }).map((cents) => cents / 4);
const source = fc.constantFrom(SIMULATED, 'feed', 'other');
const bar = fc.record({
  kind: fc.constant('bar' as const),
  source,
  daysAgo: fc.integer({ min: -1, max: 6 }),
  recorded: minutesAgo,
  price,
});
const tick = fc.record({
  kind: fc.constant('tick' as const),
  source,
  at: minutesAgo,
  received: minutesAgo,
  price,
  id: fc.integer({ min: 1, max: 30 }),
});
const withdrawal = fc.record({
  kind: fc.constant('withdrawal' as const),
  daysAgo: fc.integer({ min: -1, max: 6 }),
  days: fc.integer({ min: 1, max: 4 }),
  recorded: minutesAgo,
});
const step = fc.oneof(bar, tick, withdrawal);
const moment = fc.record({
  recordedBy: minutesAgo,
  delayMinutes: fc.constantFrom(0, 10, 60),
  simulated: fc.boolean(),
  first: fc.integer({ min: 0, max: 8 }),
  days: fc.integer({ min: 0, max: 8 }),
});

onEachEngine('past prices', (engine) => {
  let ledger: Ledger;
  const clock = { now: () => NOW };
  beforeAll(async () => {
    ledger = await Ledger.open(await readyLedgerUrl(engine), clock);
  });
  afterAll(() => ledger.close());

  test('match the slow reference, for many symbols at once', async () => {
    const steps = fc.array(step, { maxLength: 15 });
    const property = fc.asyncProperty(
      fc.array(steps, { minLength: 1, maxLength: 3 }),
      fc.array(moment, { minLength: 1, maxLength: 4 }),
      async (ofSymbols, moments) => {
        const codes: string[] = [];
        for (const ofSymbol of ofSymbols) {
          const { id, code } = await newSymbol(ledger);
          codes.push(code);
          for (const one of ofSymbol) await record(ledger, id, one);
        }
        const board = await Board.open({ ledger, clock, historyBytesMax: 0, simulated: true }, []);
        const series = codes.map((code) => board.catalog.find(code)!);
        for (const { recordedBy, delayMinutes, simulated, first, days } of moments) {
          const delayMs = delayMinutes * MINUTE;
          const at = NOW - recordedBy * MINUTE;
          const asked: PastMoment = { delayMs, horizon: at - delayMs, recordedBy: at, simulated };
          const from = utcDay(NOW) - first;
          const past = await PastPrices.open(ledger, series, asked);
          await past.load(series.map((one) => ({ series: one, first: from, last: from + days })));
          for (const one of series) {
            const expected = await byReference(ledger, one, asked);
            const wanted = expected.filter(({ day }) => day >= from && day <= from + days);
            expect(past.bars(one, FIRST_DAY, LAST_DAY)).toEqual(wanted);
            expect(past.firstDay(one)).toBe(expected[0]?.day);
            expect(past.lastDay(one)).toBe(expected.at(-1)?.day);
            expect(past.barOnOrBefore(one, from + days, from)).toEqual(wanted.at(-1));
          }
        }
      },
    );
    await fc.assert(property, { numRuns: Number(process.env.RUNS ?? 30) });
  });

  test('are empty for a symbol whose history was recorded later', async () => {
    const { id, code } = await newSymbol(ledger);
    const days = Array.from({ length: 3_000 }, (_, i) => utcDay(NOW) - 3_000 + i);
    const bars = days.map((day) => ({ symbolId: id, day, open: 1, high: 1, low: 1, close: 1 }));
    await ledger.bars.publish(bars, { source: 'feed', recordedAt: NOW });
    const board = await Board.open({ ledger, clock, historyBytesMax: 0, simulated: true }, []);
    const series = board.catalog.find(code)!;
    const before: PastMoment = { delayMs: 0, horizon: NOW - 1, recordedBy: NOW - 1, simulated: true };
    expect((await PastPrices.open(ledger, [series], before)).firstDay(series)).toBeUndefined();
    const then: PastMoment = { ...before, horizon: NOW, recordedBy: NOW };
    expect((await PastPrices.open(ledger, [series], then)).firstDay(series)).toBe(days[0]!);
  });
});

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function record(ledger: Ledger, symbolId: number, step: Step): Promise<void> {
  if (step.kind === 'bar') {
    const { price: p, daysAgo, recorded } = step;
    const day = utcDay(NOW) - daysAgo;
    const one = { symbolId, day, open: p, high: p + 2, low: p - 1, close: p + 1 };
    const earliest = (day - TRADED_AHEAD_DAYS) * MS_PER_DAY;
    const recordedAt = Math.max(earliest, NOW - recorded * MINUTE);
    await ledger.bars.publish([one], { source: step.source, recordedAt });
    return;
  }
  if (step.kind === 'withdrawal') {
    const days = Array.from({ length: step.days }, (_, i) => ({
      symbolId,
      day: utcDay(NOW) - step.daysAgo - i,
    }));
    const recordedAt = NOW - step.recorded * MINUTE;
    await ledger.withdrawals.withdraw(days, { by: 'operator', reason: 'wrong', recordedAt });
    return;
  }
  const { at, received, id } = step;
  const one = {
    symbolId,
    at: NOW - at * MINUTE,
    received: NOW - received * MINUTE,
    price: step.price,
    id: String(id),
  };
  await ledger.ticks.append([one], step.source);
}

/** All visible bars according to the reference. */
async function byReference(
  ledger: Ledger,
  { symbol }: Series,
  { horizon, recordedBy, simulated }: PastMoment,
) {
  const scope = { horizon, recordedBy, first: FIRST_DAY, last: LAST_DAY };
  const real = await historyByReference(ledger, symbol, 'real', scope);
  if (real.latest || !simulated) return real.bars;
  return (await historyByReference(ledger, symbol, 'simulated', scope)).bars;
}
