import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { SIMULATED } from '../../../src/ledger/symbols/sources.ts';
import { recordOf } from '../../../src/ledger/symbols/symbols.ts';
import { printDay, utcDay } from '../../../src/market/day.ts';
import { printNumber } from '../../../src/market/decimal.ts';
import { MARKETS, runningTradeDate } from '../../../src/market/session.ts';
import { apiOn } from '../../support/api.ts';
import { shownByReference } from '../../support/exact/visible-prices.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

const PLANS = { now: 0, ten: 600, hour: 3_600 };
type PlanName = keyof typeof PLANS | 'changed';

/** Indexes into the three names of a run: two symbols, and an alias that alternates between them. */
const BASKETS = [[0], [1, 0], [2, 1], [0, 1, 2], [2]] as const;

const source = fc.constantFrom(SIMULATED, SIMULATED, 'feed', 'other');
const price = fc.integer({ min: -50, max: 5_000 }).map((cents) => cents / 4);
const which = fc.constantFrom(0, 1);
const ask = fc.record({
  kind: fc.constant('ask' as const),
  basket: fc.constantFrom(...BASKETS),
  plan: fc.constantFrom<PlanName>('now', 'ten', 'hour', 'changed'),
  from: fc.oneof(fc.nat(40), fc.constant(19_870)), // in 1969, before day 0
  days: fc.nat(30),
});
const step = fc.oneof(
  { weight: 8, arbitrary: ask },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('bar' as const),
      which,
      price,
      source,
      back: fc.oneof(fc.integer({ min: -1, max: 2 }), fc.nat(45), fc.integer({ min: 19_850, max: 19_880 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('tick' as const),
      which,
      price,
      source,
      minutesAgo: fc.nat(120),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.constantFrom(1, 10, 61, 600) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('evict' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('alias' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('delay' as const),
      seconds: fc.constantFrom(0, 60, 600, 7_200),
    }),
  },
);

onEachEngine('time series from cached bars', (engine) => {
  const delays: Record<PlanName, number> = { ...PLANS, changed: 60 };
  const plan = (name: PlanName) => ({ name, delaySeconds: delays[name], quota: 1e9, burstPerSecond: 1e6 });
  const api = apiOn(engine, { settings: { OPENPIT_DEMO: 'true' }, logLevel: 'info' }, async ({ service }) => {
    for (const name of Object.keys(delays)) await service.setPlan(plan(name as PlanName));
  });
  const keys = new Map<PlanName, string>();
  let runs = 0;

  /** Two new symbols with a simulated past, and an alias. */
  async function newNames(): Promise<string[]> {
    runs++;
    const names = [`ONE${runs}`, `TWO${runs}`, `ALIAS${runs}`];
    const gold = (await api.service.ledger.symbols.list()).find((one) => one.code === 'XAU')!;
    const records = names.slice(0, 2).map((code) => ({ ...recordOf(gold), code }));
    await api.service.ledger.symbols.upsert(records, [{ alias: names[2]!, code: names[0]!, kind: 'guess' }]);
    const today = utcDay(api.service.clock.time);
    const days = Array.from({ length: 35 }, (_, i) => [printDay(today - 2 - i), i]);
    for (const name of names.slice(0, 2))
      await api.service.publish(name, Object.fromEntries(days), SIMULATED);
    return names;
  }

  /** The specified result, computed from the ledger alone. */
  async function expected(names: readonly string[], delayMs: number, first: number, last: number) {
    const { core, ledger, clock } = api.service;
    const byDay = new Map<number, string[]>();
    const sources: string[] = [];
    for (const name of names) {
      const { symbol } = core.board.catalog.find(name)!;
      const { bars } = await shownByReference(ledger, symbol, clock.time - delayMs);
      const own = new Set<string>();
      for (const { day, sourceId, ...ohlc } of bars) {
        if (day < first || day > last) continue;
        const [open, high, low, close] = [ohlc.open, ohlc.high, ohlc.low, ohlc.close].map(printNumber);
        const text = `"${name}":{"open":${open},"high":${high},"low":${low},"close":${close}}`;
        byDay.set(day, [...(byDay.get(day) ?? []), text]);
        own.add(core.board.sourceName(sourceId));
      }
      sources.push([...own].join(', ') || 'none');
    }
    const days = [...byDay].sort(([a], [b]) => a - b);
    return { rates: `{${days.map(([day, texts]) => `"${printDay(day)}":{${texts}}`)}}`, sources };
  }

  test('show each plan exactly what it may see, whatever was cached for others and has changed since', async () => {
    for (const name of Object.keys(delays) as PlanName[]) keys.set(name, await api.service.key(name));
    const law = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const { service } = api;
      const { clock, core } = service;
      clock.time = Math.max(clock.time, NOON) + MINUTE;
      const names = await newNames();
      for (const s of steps) {
        const today = utcDay(clock.time);
        if (s.kind === 'wait') clock.time += s.minutes * MINUTE;
        if (s.kind === 'bar')
          await service.publish(names[s.which]!, { [printDay(today - s.back)]: s.price }, s.source);
        if (s.kind === 'tick')
          await service.tick(
            names[s.which]!,
            s.price,
            clock.time - s.minutesAgo * MINUTE,
            clock.time,
            s.source,
          );
        if (s.kind === 'evict') core.board.catalog.find(names[s.which]!)!.evict();
        if (s.kind === 'alias') {
          await service.ledger.symbols.upsert(
            [],
            [{ alias: names[2]!, code: names[s.which]!, kind: 'guess' }],
            { moveAliases: true },
          );
          await core.follow();
        }
        if (s.kind === 'delay') {
          delays.changed = s.seconds;
          await service.setPlan(plan('changed'));
        }
        if (s.kind !== 'ask') continue;
        const asked = s.basket.map((i) => names[i]!);
        const first = today - s.from;
        const last = first + s.days;
        const range = `startDate=${printDay(first)}&endDate=${printDay(last)}`;
        const path = `/rates/time-series?symbols=${asked}&${range}`;
        const { text, body } = await api.ask(path, { key: keys.get(s.plan)! });
        const traded = Math.max(today, runningTradeDate(MARKETS.COMEX!, clock.time) ?? today);
        const delayMs = delays[s.plan] * 1000;
        const { rates, sources } = await expected(asked, delayMs, first, Math.min(last, traded));
        expect(text).toStartWith(
          `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","rates":${rates},"metadata":{`,
        );
        const metadata = body.metadata as Record<string, { source: string }>;
        expect(asked.map((name) => metadata[name]!.source)).toEqual(sources);
      }
    });
    await fc.assert(law, { numRuns: engine === 'sqlite' ? 40 : 10 });
  }, 180_000);
});
