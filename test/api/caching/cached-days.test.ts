import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE } from '../../support/service.ts';

const FIRST = parseDay('2024-01-02')!;
const CODES = ['XAU', 'XAG', 'ZINC'] as const;
/** The response has an alias under its requested code. */
const BASKETS: readonly (readonly [asked: string, code: (typeof CODES)[number]][])[] = [
  [['XAU', 'XAU']],
  [
    ['XAU', 'XAU'],
    ['XAG', 'XAG'],
    ['ZINC', 'ZINC'],
  ],
  [
    ['ZINC', 'ZINC'],
    ['GOLD', 'XAU'],
  ],
];

const step = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ code: fc.constantFrom(...CODES), place: fc.nat(132), price: fc.nat(999) }),
  },
  { weight: 1, arbitrary: fc.constant('wait' as const) },
  {
    weight: 3,
    arbitrary: fc.record({ basket: fc.constantFrom(...BASKETS), from: fc.nat(130), days: fc.nat(30) }),
  },
);

onEachEngine('a time series', (engine) => {
  const bars = Object.fromEntries(CODES.map((code) => [code, new Map<string, number>()])) as Record<
    (typeof CODES)[number],
    Map<string, number>
  >;
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.setPlan({ name: 'wide', quota: 1_000_000_000, burstPerSecond: 1_000_000 });
    for (const [i, code] of CODES.entries()) {
      // Each symbol lacks different days, and some lack whole months.
      for (let place = i * 40; place < 110; place++) {
        if (place % (i + 3) > 0) bars[code].set(printDay(FIRST + place), 100 + place + i / 4);
      }
      await service.publish(code, Object.fromEntries(bars[code]));
    }
  });

  /** The rates of a response as text, to compare the order of days and symbols too. */
  function expected(basket: (typeof BASKETS)[number], first: number, last: number): string {
    const days = [];
    for (let day = first; day <= last; day++) {
      const own = basket.flatMap(([asked, code]) => {
        const price = bars[code].get(printDay(day));
        const one = `"${asked}":{"open":${price},"high":${price},"low":${price},"close":${price}}`;
        return price === undefined ? [] : [one];
      });
      if (own.length > 0) days.push(`"${printDay(day)}":{${own}}`);
    }
    return `{${days}}`;
  }

  test('shows what was published, however often the same symbols are requested and the days change', async () => {
    const key = await api.service.key('wide');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const { service } = api;
        for (const s of steps) {
          if (s === 'wait') service.clock.time += 61 * MINUTE;
          else if ('price' in s) {
            bars[s.code].set(printDay(FIRST + s.place), s.price + 1);
            await service.publish(s.code, { [printDay(FIRST + s.place)]: s.price + 1 });
          } else {
            const [first, last] = [FIRST + s.from, FIRST + s.from + s.days];
            const symbols = s.basket.map(([asked]) => asked).join(',');
            const range = `startDate=${printDay(first)}&endDate=${printDay(last)}`;
            const { text } = await api.ask(`/rates/time-series?symbols=${symbols}&${range}`, { key });
            expect(text).toStartWith(
              `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":${expected(s.basket, first, last)},"metadata":{`,
            );
          }
        }
      }),
      { numRuns: 30 },
    );
  }, 180_000);
});
