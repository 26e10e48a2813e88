import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { NewTick } from '../../../src/ledger/ticks/tick.ts';
import { apiOn, type Json } from '../../support/api.ts';
import { meanClose } from '../../support/exact/derived-rows.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { symbolOf } from '../../support/ledgers.ts';
import { MINUTE } from '../../support/service.ts';

/** Wednesday 2024-05-15, 14:00 UTC; the service's clock is at 16:00. */
const TWO = Date.UTC(2024, 4, 15, 14);
const RANGE = 'startDate=2024-05-15T14:00:00Z&endDate=2024-05-15T16:59:59Z';
const INTERVALS = { minute: 1, '5min': 5, '15min': 15, hour: 60 } as const;
const DELAYS_MINUTES = [0, 7, 60, 113];
/** Each run takes another symbol that trades at these hours. */
const CODES = [
  'XAU',
  'XAG',
  'PL',
  'PA',
  'HG-SPOT',
  'WTIOIL-FUT',
  'BRENTOIL-FUT',
  'NG-FUT',
  'RB-FUT',
  'HO-FUT',
];

/**
 * Many in the same minute or moment, or exactly as old as a plan's delay; many arrive late, some after the clock's time, and
 * some before they were made, by a clock that is wrong.
 */
const madeTick = fc.record({
  minute: fc.oneof(
    fc.integer({ min: 0, max: 6 }),
    fc.integer({ min: 0, max: 119 }),
    fc.constantFrom(...DELAYS_MINUTES.map((delay) => 120 - delay)),
  ),
  ms: fc.oneof(fc.constantFrom(0, 1, 59_999), fc.integer({ min: 0, max: 59_999 })),
  lateMs: fc.oneof(fc.constant(0), fc.integer({ min: -20 * MINUTE, max: 130 * MINUTE })),
  cents: fc.integer({ min: -4_000, max: 90_000 }),
  id: fc.integer({ min: 0, max: 60 }),
});

interface ReferenceRow {
  date: string;
  open: number;
  high: number;
  low: number;
  close: number;
  average: number;
  count: number;
}

/** What a view shows at a horizon, in the slow and obvious way. */
function seenBy(ticks: readonly NewTick[], horizon: number): NewTick[] {
  return ticks
    .filter(({ at, received }) => at <= horizon && received <= horizon)
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

function rowsOf(ticks: readonly NewTick[], minutes: number, places: number): ReferenceRow[] {
  const groups = Map.groupBy(ticks, ({ at }) => Math.floor(at / (minutes * MINUTE)) * minutes * MINUTE);
  return [...groups].map(([start, own]) => {
    const prices = own.map(({ price }) => price);
    const closes = [...Map.groupBy(own, ({ at }) => Math.floor(at / MINUTE)).values()].map(
      (minute) => minute.at(-1)!.price,
    );
    return {
      date: new Date(start).toISOString().replace('.000', ''),
      open: prices[0]!,
      high: Math.max(...prices),
      low: Math.min(...prices),
      close: prices.at(-1)!,
      average: meanClose(closes, places),
      count: closes.length,
    };
  });
}

onEachEngine('minutes and hours of late, duplicated and shuffled ticks', (engine) => {
  const api = apiOn(engine);
  const rows = async (key: string, rest: string) => {
    const { status, body } = await api.ask(`/rates/history?metadata=false&${rest}`, { key });
    expect(status).toBe(200);
    return body.rates as Json[];
  };

  test('show each plan exactly what was made and received before its delay, and fold into its daily bar', async () => {
    const { service } = api;
    const now = service.clock.time;
    const keys: [key: string, horizon: number][] = [];
    for (const minutes of DELAYS_MINUTES) {
      await service.setPlan({ name: `late-${minutes}`, delaySeconds: minutes * 60 });
      keys.push([await service.key(`late-${minutes}`), now - minutes * MINUTE]);
    }
    const unused = [...CODES];
    const property = fc.asyncProperty(
      fc.array(madeTick, { minLength: 1, maxLength: 80 }),
      fc.infiniteStream(fc.nat()),
      async (made, random) => {
        const code = unused.shift();
        if (code === undefined) return; // the runs that look for a smaller example
        const { id: symbolId, decimals } = await symbolOf(service.ledger, code);
        const first = new Map<string, NewTick>();
        for (const { minute, ms, lateMs, cents, id } of made) {
          const at = TWO + minute * MINUTE + ms;
          const tick = { symbolId, id: `t${id}`, at, received: at + lateMs, price: cents / 100 };
          if (!first.has(tick.id)) first.set(tick.id, tick);
        }
        const ticks = [...first.values()];
        const sent = [...ticks, ...ticks.slice(0, 9)].sort(() => (random.next().value % 3) - 1);
        for (let i = 0; i < sent.length; i += 11) {
          await service.ledger.ticks.append(sent.slice(i, i + 11), 'test');
          await service.core.follow();
          await rows(keys[0]![0], `symbols=${code}&interval=day&startDate=2024-05-15&endDate=2024-05-15`);
        }
        for (const [key, horizon] of keys) {
          const seen = seenBy(ticks, horizon);
          for (const [interval, minutes] of Object.entries(INTERVALS)) {
            const found = await rows(key, `symbols=${code}&interval=${interval}&${RANGE}`);
            const expected = rowsOf(seen, minutes, decimals).map((row) => ({ ...row, symbol: code }));
            expect(found.map(({ factor: _, ...row }) => row)).toEqual(expected as never);
          }
          const day = `symbols=${code}&interval=day&startDate=2024-05-15&endDate=2024-05-15`;
          const [whole] = rowsOf(seen, 24 * 60, decimals);
          const daily = (await rows(key, day)).map(({ open, high, low, close }) => [open, high, low, close]);
          expect(daily).toEqual(whole ? [[whole.open, whole.high, whole.low, whole.close]] : []);
        }
      },
    );
    await fc.assert(property, { numRuns: CODES.length, endOnFailure: true });
    expect(unused).toEqual([]);
  });
});
