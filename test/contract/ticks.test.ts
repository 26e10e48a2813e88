import { expect, test } from 'bun:test';
import { FIRST_DAY, LAST_DAY } from '../../src/market/day.ts';
import { onEachEngine } from '../support/ledger.ts';
import { day, flat, ledgersOf, NOW, newSymbol, symbolOf, tick } from '../support/ledgers.ts';

const WEDNESDAY = day('2026-07-15');

onEachEngine('ticks', (engine) => {
  const ledgers = ledgersOf(engine);

  test('a tick comes back as it was written, with its trade date, as numbers', async () => {
    const { ledger, symbolId } = await withSymbol();
    const sent = { symbolId, id: 'a', at: NOW, received: NOW + 250, price: -36.98 };
    await ledger.ticks.append([sent], 'exchange');
    const found = await ledger.ticks.ofDay(symbolId, 'real', WEDNESDAY);
    const { prices } = await ledger.head();
    expect(found).toEqual([
      { ...sent, day: WEDNESDAY, revision: prices, sourceId: await ledger.sources.id('exchange') },
    ]);
  });

  test('the same id again changes nothing, in the same batch or a later one', async () => {
    const { ledger, symbolId } = await withSymbol();
    await ledger.ticks.append([tick(symbolId, 'a', NOW, 1), tick(symbolId, 'a', NOW, 2)], 'exchange');
    const before = await ledger.ticks.ofDay(symbolId, 'real', WEDNESDAY);
    expect(before).toMatchObject([{ id: 'a', price: 1 }]);
    await ledger.ticks.append([tick(symbolId, 'a', NOW + 1, 3), tick(symbolId, 'b')], 'exchange');
    const after = await ledger.ticks.ofDay(symbolId, 'real', WEDNESDAY);
    expect(after.filter(({ id }) => id === 'a')).toEqual(before);
    expect(after).toHaveLength(2);
  });

  test('an id is its source’s own, and its symbol’s own', async () => {
    const { ledger, symbolId } = await withSymbol();
    const other = (await newSymbol(ledger)).id;
    await ledger.ticks.append([tick(symbolId, 'a'), tick(other, 'a')], 'exchange');
    await ledger.ticks.append([tick(symbolId, 'a')], 'desk');
    expect(await ledger.ticks.ofDay(symbolId, 'real', WEDNESDAY)).toHaveLength(2);
    expect(await ledger.ticks.ofDay(other, 'real', WEDNESDAY)).toHaveLength(1);
  });

  test('a late tick lands on the trade date it was made on', async () => {
    const { ledger, symbolId } = await withSymbol();
    const sundayEvening = Date.parse('2026-07-12T22:00:00Z');
    const late = { ...tick(symbolId, 'late', sundayEvening), received: NOW };
    await ledger.ticks.append([tick(symbolId, 'now'), late], 'exchange');
    expect(await ledger.ticks.ofDay(symbolId, 'real', day('2026-07-13'))).toMatchObject([
      { id: 'late', at: sundayEvening, received: NOW },
    ]);
    expect(await ledger.ticks.days(symbolId, 'real')).toEqual([day('2026-07-13'), WEDNESDAY]);
  });

  test('a real tick hides simulated prices for good', async () => {
    const { ledger, symbolId, code } = await withSymbol();
    const other = (await newSymbol(ledger)).id;
    await ledger.ticks.append([tick(symbolId, 's1')], 'simulated');
    expect((await symbolOf(ledger, code)).real).toBe(false);
    await ledger.ticks.append([tick(symbolId, 'r1')], 'exchange');
    expect((await symbolOf(ledger, code)).real).toBe(true);
    await ledger.ticks.append([tick(symbolId, 's2'), tick(other, 's2')], 'simulated');
    const origin = async (name: 'real' | 'simulated', id = symbolId) =>
      (await ledger.ticks.ofDay(id, name, WEDNESDAY)).map((one) => one.id);
    expect(await origin('simulated')).toEqual(['s1']);
    expect(await origin('real')).toEqual(['r1']);
    expect(await origin('simulated', other)).toEqual(['s2']);

    const bars = [{ symbolId, day: WEDNESDAY, ...flat(1) }];
    await ledger.bars.publish(bars, { source: 'simulated', recordedAt: NOW });
    expect(await ledger.bars.revisions(symbolId, 'simulated', FIRST_DAY, LAST_DAY)).toEqual([]);
  });

  test('a batch with a tick of no symbol is refused whole', async () => {
    const { ledger, symbolId, code } = await withSymbol();
    const wrong = ledger.ticks.append([tick(symbolId, 'a'), tick(999_999, 'b')], 'exchange');
    await expect(wrong).rejects.toThrow('no symbol has the id 999999');
    expect(await ledger.ticks.ofDay(symbolId, 'real', WEDNESDAY)).toEqual([]);
    expect((await symbolOf(ledger, code)).real).toBe(false);
  });

  test('an empty batch takes no revision', async () => {
    const { ledger } = await withSymbol();
    const before = await ledger.head();
    await ledger.ticks.append([], 'exchange');
    expect(await ledger.head()).toEqual(before);
  });

  test('since gives those of (after, upTo], in the order of their revisions', async () => {
    const { ledger, symbolId } = await withSymbol();
    const heads = [(await ledger.head()).prices];
    for (const id of ['z', 'a', 'm']) {
      await ledger.ticks.append([tick(symbolId, id)], 'exchange');
      heads.push((await ledger.head()).prices);
    }
    const ids = async (after: number, upTo: number) =>
      (await ledger.ticks.since(after, upTo)).map(({ id }) => id);
    expect(await ids(heads[0]!, heads[3]!)).toEqual(['z', 'a', 'm']);
    expect(await ids(heads[1]!, heads[2]!)).toEqual(['a']);
    expect(await ids(heads[3]!, heads[3]!)).toEqual([]);
  });

  test('a batch larger than one transaction or one statement is stored completely', async () => {
    const { ledger, symbolId } = await withSymbol();
    const ticks = Array.from({ length: 9_000 }, (_, i) => tick(symbolId, `t${i}`, NOW + i, i / 100));
    const before = (await ledger.head()).prices;
    await ledger.ticks.append(ticks, 'exchange');
    const found = await ledger.ticks.since(before, (await ledger.head()).prices);
    expect(found).toHaveLength(9_000);
    expect(found.reduce((sum, { price }) => sum + Math.round(price * 100), 0)).toBe((9_000 * 8_999) / 2);
    const perRevision = Map.groupBy(found, ({ revision }) => revision);
    expect(Math.max(...[...perRevision.values()].map((rows) => rows.length))).toBeLessThanOrEqual(2_000);
  });

  async function withSymbol() {
    const ledger = await ledgers.shared();
    const { id: symbolId, code } = await newSymbol(ledger);
    return { ledger, symbolId, code };
  }
});
