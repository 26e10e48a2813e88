import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Closer } from '../../src/feeds/close/closer.ts';
import { Pruner } from '../../src/feeds/close/pruner.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { DEFAULT_RETENTION } from '../../src/ledger/retention/rules.ts';
import { SIMULATED } from '../../src/ledger/symbols/sources.ts';
import type { LedgerSymbol } from '../../src/ledger/symbols/symbols.ts';
import type { NewTick } from '../../src/ledger/ticks/tick.ts';
import { type Fold, foldTick, ohlcOf, type Tick } from '../../src/market/bar.ts';
import { MS_PER_DAY } from '../../src/market/day.ts';
import { foldIntraday, type IntradayBar } from '../../src/market/intraday/bar.ts';
import { HOUR_MS, INTRADAY_MS, MINUTE_MS, startOf } from '../../src/market/intraday/interval.ts';
import { marketOf, sessionEnd, sessionStart } from '../../src/market/session.ts';
import { accessTo, sqlitePlan, statementsOf } from '../support/database/statements.ts';
import { onEachEngine } from '../support/ledger.ts';
import { day, ledgersOf, newSymbol } from '../support/ledgers.ts';

const DAY = day('2026-07-15');
const OPENS = sessionStart(marketOf('COMEX'), DAY);
const ENDS = sessionEnd(marketOf('COMEX'), DAY);
const ALL_TIME = { from: 0, to: Number.MAX_SAFE_INTEGER };
const PRUNED_AT = ENDS + 10 * MS_PER_DAY;

/** Close together, so that many share a moment, a minute or an hour; some arrive a day late. */
const madeTick = fc.record({
  minute: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 1_379 })),
  ms: fc.oneof(fc.constantFrom(0, 1, 59_999), fc.integer({ min: 0, max: 59_999 })),
  lateMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: MS_PER_DAY })),
  price: fc.integer({ min: -4_000, max: 9_000 }).map((cents) => cents / 100),
  id: fc.integer({ min: 0, max: 40 }).map((n) => `t${n}`),
});
const madeTicks = fc.array(madeTick, { minLength: 1, maxLength: 60 });

onEachEngine('intraday bars', (engine) => {
  const ledgers = ledgersOf(engine);

  test('are the fold of late, duplicated and shuffled ticks, fold into the daily bar, and stay the same when ticks are deleted', async () => {
    const ledger = await ledgers.shared();
    await fc.assert(
      fc.asyncProperty(madeTicks, fc.infiniteStream(fc.nat()), async (made, random) => {
        const symbol = await newSymbol(ledger);
        const ticks = ticksOf(symbol, made);
        const shuffled = [...ticks, ...ticks.slice(0, 5)].sort(() => (random.next().value % 3) - 1);
        for (let i = 0; i < shuffled.length; i += 7) {
          await ledger.ticks.append(shuffled.slice(i, i + 7), 'feed');
        }
        const known = byId(shuffled);
        const expected = minutesByReference(known);
        const of = { symbolId: symbol.id, origin: 'real', day: DAY } as const;
        expect(plain(await ledger.intraday.fold(of, {}))).toEqual(plain(expected));

        const closer = new Closer(ledger);
        await closer.close(ENDS + 2 * MS_PER_DAY);
        const [bar] = (await ledger.bars.revisions(symbol.id, 'real', DAY, DAY)).slice(-1);
        for (const ms of Object.values(INTRADAY_MS)) {
          const [whole] = foldIntraday(foldIntraday(expected, ms), 10 * MS_PER_DAY);
          expect(whole).toMatchObject({ open: bar!.open, high: bar!.high, low: bar!.low, close: bar!.close });
          expect([whole!]).toEqual(foldIntraday(expected, 10 * MS_PER_DAY)); // in two steps as in one
        }

        await new Pruner(ledger).prune(PRUNED_AT);
        expect(await ledger.ticks.ofDay(symbol.id, 'real', DAY)).toEqual([]);
        expect(plain(await stored(ledger, symbol, 'minute'))).toEqual(plain(expected));
        expect(plain(await stored(ledger, symbol, 'hour'))).toEqual(plain(foldIntraday(expected, HOUR_MS)));
      }),
      { numRuns: 25 },
    );
  });

  test('of a busy hour are folded from the index; only the first and the last tick of each minute is read from the table', async () => {
    const ledger = await ledgers.new(); // without statistics
    const symbol = await newSymbol(ledger);
    const made = Array.from({ length: 2_000 }, (_, i) => ({
      symbolId: symbol.id,
      id: `t${i}`,
      at: OPENS + i * 1_800, // an hour
      received: OPENS + i * 1_800,
      price: i,
    }));
    await ledger.ticks.append(made, 'feed');
    const of = { symbolId: symbol.id, origin: 'real', day: DAY } as const;
    const statements = await statementsOf(ledger, () => ledger.intraday.fold(of, {}));
    const summary = statements.find(({ text }) => text.includes('GROUP BY'))!;
    const edges = statements.find(({ text }) => text.includes('at IN'))!;
    if (engine === 'postgres') {
      const rowsOf = async (one: typeof summary) => (await accessTo(ledger, 'tick', one)).rows;
      for (const one of [summary, edges]) expect(await rowsOf(one)).toBeLessThanOrEqual(made.length);
      await ledger.engine.write((tx) => tx`ANALYZE tick`);
      expect(await rowsOf(edges)).toBeLessThanOrEqual(120);
    } else {
      expect(await sqlitePlan(ledger, summary)).toContainEqual(expect.stringContaining('COVERING INDEX'));
      expect(await sqlitePlan(ledger, edges)).toContainEqual(expect.stringContaining('at=?'));
    }
  });

  test('show at a horizon only what was made and received by then', async () => {
    const ledger = await ledgers.shared();
    await fc.assert(
      fc.asyncProperty(madeTicks, fc.integer({ min: 0, max: 2 * MS_PER_DAY }), async (made, after) => {
        const symbol = await newSymbol(ledger);
        const ticks = ticksOf(symbol, made);
        await ledger.ticks.append(ticks, 'feed');
        const horizon = OPENS + after;
        const of = { symbolId: symbol.id, origin: 'real', day: DAY } as const;
        const seen = [...byId(ticks)].filter((tick) => Math.max(tick.at, tick.received) <= horizon);
        expect(plain(await ledger.intraday.fold(of, { horizon }))).toEqual(plain(minutesByReference(seen)));
      }),
      { numRuns: 25 },
    );
  });

  test('of real and of simulated prices are stored apart, and a withdrawal hides what was received before it', async () => {
    const ledger = await ledgers.shared();
    const symbol = await newSymbol(ledger);
    const at = (minute: number, price: number): NewTick => {
      const made = OPENS + minute * MINUTE_MS;
      return { symbolId: symbol.id, id: `${made}`, at: made, received: made, price };
    };
    await ledger.ticks.append([at(1, 5), at(2, 6)], SIMULATED);
    await new Closer(ledger).close(ENDS);
    await new Pruner(ledger).prune(PRUNED_AT);
    expect(await stored(ledger, symbol, 'minute', 'simulated')).toHaveLength(2);

    await ledger.ticks.append([at(1, 10), at(3, 11), at(3, 12)], 'feed');
    const one = { symbolId: symbol.id, day: DAY };
    const recordedAt = OPENS + 2 * MINUTE_MS;
    await ledger.bars.publish([{ ...one, open: 1, high: 1, low: 1, close: 1 }], {
      source: 'feed',
      recordedAt,
    });
    await ledger.withdrawals.withdraw([one], { by: 'operator', reason: 'wrong', recordedAt });
    await ledger.ticks.append([{ ...at(0, 9), received: OPENS + 4 * MINUTE_MS }], 'feed');
    await new Closer(ledger).close(ENDS);
    await new Pruner(ledger).prune(PRUNED_AT);
    expect(await stored(ledger, symbol, 'minute')).toMatchObject([
      { at: OPENS, open: 9 }, // made before the withdrawal, and pushed after it
      { at: OPENS + 3 * MINUTE_MS, open: 11 },
    ]);
  });

  test('a late tick after the deletion changes neither the daily bar nor the stored ones', async () => {
    const ledger = await ledgers.shared();
    const symbol = await newSymbol(ledger);
    const tick = { symbolId: symbol.id, id: 'a', at: OPENS, received: OPENS, price: 10 };
    await ledger.ticks.append([tick], 'feed');
    const closer = new Closer(ledger);
    await closer.close(ENDS);
    await new Pruner(ledger).prune(PRUNED_AT);
    await ledger.ticks.append([{ ...tick, id: 'b', at: OPENS + 1, received: PRUNED_AT, price: 99 }], 'feed');
    await closer.close(PRUNED_AT + 1);
    await new Pruner(ledger).prune(PRUNED_AT + 30 * MS_PER_DAY);
    expect(await stored(ledger, symbol, 'minute')).toMatchObject([{ high: 10, close: 10 }]);
  });

  test('minutes are deleted after the days of the setting, in batches; hours stay', async () => {
    const ledger = await ledgers.new();
    const symbol = await newSymbol(ledger);
    const made = [0, 1, 61].map((minute) => ({ minute, ms: 0, lateMs: 0, price: minute, id: `t${minute}` }));
    await ledger.ticks.append(ticksOf(symbol, made), 'feed');
    await new Closer(ledger).close(ENDS);
    await new Pruner(ledger).prune(PRUNED_AT);
    const rules = { ...DEFAULT_RETENTION, minuteBarsDays: 30 };
    await ledger.retention.apply((DAY + 30) * MS_PER_DAY, rules);
    expect(await stored(ledger, symbol, 'minute')).toHaveLength(3);
    await ledger.retention.apply((DAY + 31) * MS_PER_DAY, rules);
    expect(await stored(ledger, symbol, 'minute')).toEqual([]);
    expect(await stored(ledger, symbol, 'hour')).toMatchObject([
      { open: 0, close: 1, minutes: 2, closeSum: 1 },
      { open: 61, close: 61, minutes: 1, closeSum: 61 },
    ]);
  });
});

type MadeTick = typeof madeTick extends fc.Arbitrary<infer T> ? T : never;

function ticksOf({ id: symbolId }: LedgerSymbol, made: readonly MadeTick[]): NewTick[] {
  return made.map(({ minute, ms, lateMs, price, id }) => {
    const at = OPENS + minute * MINUTE_MS + ms;
    return { symbolId, id, at, received: at + lateMs, price };
  });
}

/** The first tick with each id is the tick; the ledger ignores the others. */
function byId(ticks: readonly NewTick[]): NewTick[] {
  const known = new Map<string, NewTick>();
  for (const tick of ticks) if (!known.has(tick.id)) known.set(tick.id, tick);
  return [...known.values()];
}

/** Slow and simple. */
function minutesByReference(ticks: readonly NewTick[]): IntradayBar[] {
  const groups = Map.groupBy(ticks, ({ at }) => startOf(at, MINUTE_MS));
  const bars = [...groups].map(([at, own]): IntradayBar => {
    const fold = own.reduce<Fold | undefined>((sum, tick: Tick) => foldTick(sum, tick), undefined)!;
    const { close, ...others } = ohlcOf(fold);
    return { at, day: DAY, ...others, close, sourceId: 0, minutes: 1, closeSum: close };
  });
  return bars.sort((a, b) => a.at - b.at);
}

async function stored(
  ledger: Ledger,
  { id }: LedgerSymbol,
  detail: 'minute' | 'hour',
  origin: 'real' | 'simulated' = 'real',
): Promise<IntradayBar[]> {
  const symbols = { origin, symbolIds: [id] };
  const days = await ledger.intraday.stored(symbols, { first: DAY, last: DAY }, ALL_TIME, detail);
  return days.flatMap(({ bars }) => bars);
}

/** Without the source, which the reference does not know. */
function plain(bars: readonly IntradayBar[]) {
  return bars.map(({ sourceId: _, ...bar }) => bar);
}
