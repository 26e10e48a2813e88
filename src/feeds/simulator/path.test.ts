import { expect, test } from 'bun:test';
import fc from 'fast-check';
import catalog from '../../ledger/catalog/symbols.json';
import { type Fold, foldTick, ohlcOf } from '../../market/bar.ts';
import { dayOf } from '../../market/day.ts';
import { isTrading, marketOf, tradeDate } from '../../market/session.ts';
import type { SymbolRecord } from '../../market/symbol.ts';
import { tradingDays } from './calendar.ts';
import { priceAt } from './path.ts';
import {
  isLive,
  lastClosedDay,
  momentsIn,
  runningSession,
  SPARSE_MS,
  sessionOf,
  sparseMomentsIn,
  timetableOf,
  tradedMs,
} from './schedule.ts';
import { barsOf, walkOf } from './walk.ts';

const LIVE = (catalog as SymbolRecord[]).filter(isLive);
const aSymbol = fc.constantFrom(...LIVE);
const aTradingDay = fc.constantFrom(...tradingDays(dayOf(2024, 1, 1)!, dayOf(2027, 1, 1)!));
const aMoment = fc.integer({ min: Date.UTC(2024, 0, 3), max: Date.UTC(2027, 0, 1) });

/** A symbol on a trading day, with all that its ticks are made of. */
const aSessionDay = fc.tuple(aSymbol, aTradingDay).map(([symbol, day]) => {
  const session = sessionOf(marketOf(symbol.market), day)!;
  const walk = walkOf(symbol);
  const [bar] = barsOf(walk, day, day);
  return { symbol, session, walk, bar: bar!, timetable: timetableOf(symbol, session) };
});

test('the ticks of a session fold to exactly its bar, at the live interval and at ten minutes', () => {
  fc.assert(
    fc.property(aSessionDay, ({ session, walk, bar, timetable }) => {
      const live = momentsIn(timetable, session.start - 1, session.end);
      for (const moments of [live, sparseMomentsIn(timetable, session.end)]) {
        let fold: Fold | undefined;
        for (const at of moments) {
          fold = foldTick(fold, { at, received: at, id: `${at}`, price: priceAt(walk, bar, timetable, at) });
        }
        expect({ day: bar.day, ...ohlcOf(fold!) }).toEqual(bar);
      }
    }),
  );
});

test('the price at any time is within the bar and has the decimals of its symbol', () => {
  fc.assert(
    fc.property(aSessionDay, fc.nat(86_400_000), ({ session, walk, bar, timetable }, after) => {
      const price = priceAt(walk, bar, timetable, session.start + after);
      expect(price).toBeGreaterThanOrEqual(bar.low);
      expect(price).toBeLessThanOrEqual(bar.high);
      expect(Number(price.toFixed(walk.decimals))).toBe(price);
    }),
  );
});

test('every tick is in its session and belongs to its trade date', () => {
  fc.assert(
    fc.property(aSessionDay, ({ symbol, session, timetable }) => {
      for (const at of momentsIn(timetable, 0, Number.POSITIVE_INFINITY)) {
        expect(at).toBeGreaterThanOrEqual(session.start);
        expect(at).toBeLessThan(session.end);
        expect(tradeDate(marketOf(symbol.market), at)).toBe(session.day);
        expect(isTrading(marketOf(symbol.market), at)).toBe(true);
      }
    }),
    { numRuns: 30 },
  );
});

test('turns of any length generate the same ticks as one long turn', () => {
  fc.assert(
    fc.property(aSessionDay, fc.array(fc.nat(90_000_000), { maxLength: 8 }), (day, cuts) => {
      const { session, timetable } = day;
      const ends = [
        ...cuts.map((cut) => session.start + cut).sort((a, b) => a - b),
        session.end + 90_000_000,
      ];
      let from = session.start - 1;
      const moments = ends.flatMap((to) => {
        const turn = momentsIn(timetable, from, to);
        from = to;
        return turn;
      });
      expect(moments).toEqual(momentsIn(timetable, session.start - 1, session.end));
    }),
  );
});

test('ticks of the past are a subset of the live ones, including the newest', () => {
  fc.assert(
    fc.property(aSessionDay, fc.nat(90_000_000), ({ session, timetable }, after) => {
      const upTo = session.start + after;
      const live = momentsIn(timetable, session.start - 1, upTo);
      const sparse = sparseMomentsIn(timetable, upTo);
      expect(new Set(live).isSupersetOf(new Set(sparse))).toBe(true);
      expect(sparse.at(-1)).toBe(live.at(-1));
      const traded = sparse.map((at) => tradedMs(timetable, at));
      for (const [i, ms] of traded.slice(1).entries()) expect(ms - traded[i]!).toBeLessThanOrEqual(SPARSE_MS);
    }),
  );
});

test('spot and futures of a commodity stay within 2 % of their usual distance throughout a day', () => {
  fc.assert(
    fc.property(aTradingDay, fc.nat(80_000_000), (day, after) => {
      const priceOf = (code: string) => {
        const symbol = LIVE.find((one) => one.code === code)!;
        const session = sessionOf(marketOf(symbol.market), day)!;
        const walk = walkOf(symbol);
        const timetable = timetableOf(symbol, session);
        return priceAt(walk, barsOf(walk, day, day)[0]!, timetable, session.start + after);
      };
      expect(Math.abs(priceOf('HG-FUT') / priceOf('HG-SPOT') / 1.012 - 1)).toBeLessThan(0.02);
      expect(Math.abs(priceOf('GC-FUT') / priceOf('XAU') / 1.004 - 1)).toBeLessThan(0.02);
    }),
  );
});

test('any time is in an open session, or between the last closed one and the next', () => {
  fc.assert(
    fc.property(aSymbol, aMoment, (symbol, now) => {
      const market = marketOf(symbol.market);
      const closed = sessionOf(market, lastClosedDay(market, now))!;
      expect(closed.end).toBeLessThanOrEqual(now);
      const [next] = tradingDays(closed.day + 1, closed.day + 10);
      const following = sessionOf(market, next!)!;
      expect(following.end).toBeGreaterThan(now);
      const running = runningSession(market, now);
      expect(running).toEqual(now >= following.start ? following : undefined);
    }),
  );
});

test('the stream of all symbols is spread: no second has more than a tenth of a minute’s ticks', () => {
  const start = Date.UTC(2026, 10, 11, 15);
  const perSecond = new Array<number>(60).fill(0);
  for (const symbol of LIVE) {
    const session = runningSession(marketOf(symbol.market), start);
    if (!session) continue;
    for (const at of momentsIn(timetableOf(symbol, session), start - 1, start + 59_999)) {
      perSecond[Math.floor((at - start) / 1000)]!++;
    }
  }
  const total = perSecond.reduce((sum, n) => sum + n, 0);
  expect(total).toBeGreaterThan(40);
  expect(Math.max(...perSecond)).toBeLessThanOrEqual(total / 10);
});
