import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { utcDay } from '../../src/market/day.ts';
import { onEachEngine } from '../support/ledger.ts';
import { flat, ledgersOf, NOW, newSymbol } from '../support/ledgers.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const TODAY = utcDay(NOW);

onEachEngine('quarantine', (engine) => {
  const ledgers = ledgersOf(engine);

  /** A symbol with 50 ticks at about 100, one each second up to now. */
  async function calm() {
    const ledger = await ledgers.shared();
    const { id: symbolId, code } = await newSymbol(ledger);
    const send = (ticks: [id: string, at: number, price: number][], source = 'push', received = NOW) =>
      ledger.quarantine.admit(
        ticks.map(([id, at, price]) => ({ symbolId, id, at, received, price })),
        source,
      );
    await send(
      Array.from({ length: 50 }, (_, i) => [`calm ${i}`, NOW - (50 - i) * SECOND, 100 + (i % 3) / 10]),
    );
    const prices = async () =>
      (await ledger.ticks.ofDay(symbolId, 'real', TODAY))
        .toSorted((a, b) => a.at - b.at)
        .slice(50)
        .map((tick) => tick.price);
    const mine = async (all = false) =>
      (await ledger.quarantine.list({ all, limit: 1_000 })).filter((one) => one.symbol === code);
    return { ledger, symbolId, send, prices, mine };
  }
  const statuses = (outcomes: readonly { status: string }[]) => outcomes.map(({ status }) => status);

  test('returns an outcome for each tick in the order sent; a repeated tick is stored once', async () => {
    const { send, prices, mine } = await calm();
    const batch: [string, number, number][] = [
      ['b', NOW + SECOND, 100.1],
      ['wrong', NOW + 2 * SECOND, 10_000],
      ['a', NOW, 100],
      ['a', NOW, 100],
      ['a', NOW, 101],
    ];
    const first = ['accepted', 'quarantined', 'accepted', 'duplicate', 'refused'];
    expect(statuses(await send(batch))).toEqual(first);
    expect(statuses(await send(batch))).toEqual([
      'duplicate',
      'quarantined',
      'duplicate',
      'duplicate',
      'refused',
    ]);
    expect(await prices()).toEqual([100, 100.1]);
    expect(await mine()).toMatchObject([{ tickId: 'wrong', price: 10_000, state: 'held', source: 'push' }]);
  });

  test('three more that agree release it, in chronological order; later duplicates of it are recognized', async () => {
    const { ledger, symbolId, send, prices, mine } = await calm();
    for (const n of [0, 1, 2]) {
      expect(statuses(await send([[`up ${n}`, NOW + n * SECOND, 130]], 'push', NOW + n * SECOND))).toEqual([
        'quarantined',
      ]);
    }
    const later = NOW + 10 * MINUTE;
    expect(statuses(await send([['up 3', NOW + 3 * SECOND, 130]], 'push', later))).toEqual(['accepted']);
    expect(await prices()).toEqual([130, 130, 130, 130]);
    expect(await mine()).toEqual([]);
    expect(await mine(true)).toMatchObject(Array(3).fill({ state: 'released', decidedBy: 'others agree' }));
    const ticks = await ledger.ticks.ofDay(symbolId, 'real', TODAY);
    expect(ticks.find((tick) => tick.id === 'up 0')).toMatchObject({ at: NOW, received: later });
  });

  test('one of another source releases it, even in another process', async () => {
    const [here, there] = await ledgers.pair();
    const { id: symbolId } = await newSymbol(here);
    const tick = (id: string, at: number, price: number) => ({ symbolId, id, at, received: NOW, price });
    await here.quarantine.admit([tick('first', NOW - MINUTE, 100), tick('up', NOW, 130)], 'push');
    expect(await there.quarantine.list({ all: false, limit: 9 })).toMatchObject([{ tickId: 'up' }]);
    expect(statuses(await there.quarantine.admit([tick('theirs', NOW + SECOND, 131)], 'other'))).toEqual([
      'accepted',
    ]);
    expect(await here.ticks.ofDay(symbolId, 'real', TODAY)).toHaveLength(3);
    expect(await here.quarantine.list({ all: false, limit: 9 })).toEqual([]);
  });

  test('after 15 minutes it is dropped, and a tick that comes later does not release it', async () => {
    const { ledger, send, prices, mine } = await calm();
    await send([['up', NOW, 150]]);
    await ledger.quarantine.expire(NOW + 15 * MINUTE - 1);
    expect(await mine()).toHaveLength(1);
    await ledger.quarantine.expire(NOW + 15 * MINUTE);
    expect(await mine()).toEqual([]);
    expect(await mine(true)).toMatchObject([{ state: 'dropped' }]);
    expect(await send([['up', NOW, 150]], 'push', NOW + 16 * MINUTE)).toEqual([
      { status: 'refused', reason: 'it was dropped from quarantine' },
    ]);
    expect(await prices()).toEqual([]);
    await ledger.retention.apply(NOW + 30 * 24 * 60 * MINUTE);
    expect(await mine(true)).toHaveLength(1);
    await ledger.retention.apply(NOW + 31 * 24 * 60 * MINUTE);
    expect(await mine(true)).toEqual([]);
  });

  test('the operator releases one that is held or was dropped, and drops one that is held', async () => {
    const { ledger, send, prices, mine } = await calm();
    await send([
      ['one', NOW, 150],
      ['two', NOW + SECOND, 300],
    ]);
    const [two, one] = await mine();
    expect(await ledger.quarantine.drop(two!.id, NOW, 'operator')).toBe(true);
    expect(await ledger.quarantine.drop(two!.id, NOW, 'operator')).toBe(false);
    expect(await ledger.quarantine.release(one!.id, NOW + 5, 'operator')).toBe(true);
    expect(await prices()).toEqual([150]);
    expect(await ledger.quarantine.release(two!.id, NOW + 5, 'operator')).toBe(true);
    expect(await prices()).toEqual([150, 300]);
    expect(await ledger.quarantine.release(two!.id, NOW + 5, 'operator')).toBe(false);
    expect(await ledger.quarantine.release(999_999, NOW, 'operator')).toBe(false);
  });

  test('two processes that send at the same time judge by what both have sent', async () => {
    const [here, there] = await ledgers.pair();
    const { id: symbolId } = await newSymbol(here);
    const tick = (id: string, at: number, price: number) => ({ symbolId, id, at, received: NOW, price });
    await here.quarantine.admit([tick('first', NOW - MINUTE, 100)], 'push');
    const sent = await Promise.all(
      [0, 1, 2, 3].map((n) =>
        (n % 2 ? here : there).quarantine.admit([tick(`up ${n}`, NOW + n, 130)], 'push'),
      ),
    );
    expect(statuses(sent.flat()).toSorted()).toEqual([
      'accepted',
      'quarantined',
      'quarantined',
      'quarantined',
    ]);
    expect(await here.ticks.ofDay(symbolId, 'real', TODAY)).toHaveLength(5);
  });

  test('a batch larger than one transaction is accepted completely', async () => {
    const { send, prices } = await calm();
    const many: [string, number, number][] = Array.from({ length: 4_100 }, (_, i) => [`m${i}`, NOW + i, 100]);
    const outcomes = await send(many);
    expect(outcomes.every(({ status }) => status === 'accepted')).toBe(true);
    expect(await prices()).toHaveLength(4_100);
  });

  test('a push of many symbols has the same outcome as one push per symbol', async () => {
    const ledger = await ledgers.shared();
    const [one, two] = [await manySymbols(), await manySymbols()];
    const source = (n: number) => `many-${n}`;
    let run = 0;
    await fc.assert(
      fc.asyncProperty(pushes(), async (sent) => {
        run++;
        for (const push of sent) {
          const ticksOf = (ids: readonly number[]) =>
            push.ticks.map(({ symbol, id, at, price }) => ({
              symbolId: ids[symbol]!,
              id: `${run} ${id}`,
              at: NOW + run * 40 * MINUTE + at,
              received: NOW + run * 40 * MINUTE,
              price,
            }));
          const together = await ledger.quarantine.admit(ticksOf(one), source(push.source));
          const apart = ticksOf(two);
          const outcomes = new Map<(typeof apart)[number], unknown>();
          for (const ofSymbol of Map.groupBy(apart, (tick) => tick.symbolId).values()) {
            const some = await ledger.quarantine.admit(ofSymbol, source(push.source));
            for (const [i, tick] of ofSymbol.entries()) outcomes.set(tick, some[i]);
          }
          expect<unknown>(together).toEqual(apart.map((tick) => outcomes.get(tick)));
        }
        for (const [i, id] of one.entries()) expect(await stateOf(id)).toEqual(await stateOf(two[i]!));
      }),
      { numRuns: 25 },
    );

    /** All rows about a symbol's ticks. */
    async function stateOf(symbolId: number) {
      const { read, placeholder } = ledger.engine;
      const of = (columns: string, table: string) =>
        read
          .unsafe(
            `SELECT ${columns} FROM ${table} WHERE symbol_id = ${placeholder(1)} ORDER BY source_id, tick_id`,
            [symbolId],
          )
          .values();
      return {
        ticks: [...(await of('source_id, tick_id, day, at, received, price', 'tick'))],
        quarantine: [
          ...(await of('source_id, tick_id, state, reason, decided_at, decided_by', 'quarantine_tick')),
        ],
      };
    }

    async function manySymbols(): Promise<number[]> {
      const symbols = [];
      for (let i = 0; i < 4; i++) symbols.push((await newSymbol(ledger)).id);
      return symbols;
    }
  });

  test('withdrawn ticks confirm no others', async () => {
    const ledger = await ledgers.shared();
    const { id: symbolId } = await newSymbol(ledger);
    const send = (id: string, at: number, price: number, received: number) =>
      ledger.quarantine.admit([{ symbolId, id, at, received, price }], 'push');
    const DAY = 24 * 60 * MINUTE;
    expect(statuses(await send('yesterday', NOW - DAY, 100, NOW - DAY))).toEqual(['accepted']);
    for (const n of [0, 1, 2, 3]) await send(`wrong ${n}`, NOW + n, 1_000, NOW + n);
    const days = [{ symbolId, day: TODAY }];
    await ledger.bars.publish([{ ...days[0]!, ...flat(1_000) }], { source: 'push', recordedAt: NOW + 5 });
    await ledger.withdrawals.withdraw(days, { by: 'operator', reason: 'wrong', recordedAt: NOW + MINUTE });
    expect(statuses(await send('again', NOW + 2 * MINUTE, 1_000, NOW + 2 * MINUTE))).toEqual(['quarantined']);
    expect(statuses(await send('right', NOW + 3 * MINUTE, 101, NOW + 3 * MINUTE))).toEqual(['accepted']);
    await ledger.corrections.revert(days, { reason: 'was right', recordedAt: NOW + 4 * MINUTE });
    expect(statuses(await send('late', NOW + 3, 1_000, NOW + 5 * MINUTE))).toEqual(['accepted']);
  });

  test('a late tick with thousands after it is judged by its neighbours; so is each of many', async () => {
    const { send, prices } = await calm();
    await send(Array.from({ length: 3_000 }, (_, i) => [`m${i}`, NOW + i * SECOND, 100 + (i % 5) / 10]));
    const late: [string, number, number][] = Array.from({ length: 30 }, (_, i) => [
      `late ${i}`,
      NOW + i * 100 * SECOND + 500,
      i % 10 === 3 ? 500 : 100,
    ]);
    const outcomes = await send(late.toReversed());
    expect(statuses(outcomes.toReversed())).toEqual(
      late.map(([, , price]) => (price === 500 ? 'quarantined' : 'accepted')),
    );
    expect(await prices()).toHaveLength(3_027);
  });
});

/** Pushes of two sources: mostly plausible, some outliers, some late, some with a used id. */
function pushes() {
  const tick = fc.record({
    symbol: fc.nat(3),
    id: fc.nat(60),
    at: fc.oneof(
      fc.nat(20).map((n) => n * SECOND),
      fc.integer({ min: -10, max: 10 }).map((n) => n * MINUTE),
    ),
    price: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 98, max: 102 }) },
      { weight: 2, arbitrary: fc.constantFrom(131, 132, 10_000, -1) },
    ),
  });
  const push = fc.record({ source: fc.nat(1), ticks: fc.array(tick, { minLength: 1, maxLength: 25 }) });
  return fc.array(push, { minLength: 1, maxLength: 5 });
}
