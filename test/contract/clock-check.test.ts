import { expect, test } from 'bun:test';
import { ClockRefused, requirePlausibleClock } from '../../src/ledger/operations/clock-check.ts';
import { MS_PER_DAY } from '../../src/market/day.ts';
import { marketOf, sessionEnd, tradeDate } from '../../src/market/session.ts';
import { onEachEngine } from '../support/ledger.ts';
import { ledgersOf, NOW, symbolOf, tick } from '../support/ledgers.ts';

onEachEngine('the clock at a start', (engine) => {
  const ledgers = ledgersOf(engine);

  test('may be anything for a ledger that is empty or has simulated prices alone', async () => {
    const ledger = await ledgers.new();
    await requirePlausibleClock(ledger.engine, NOW);
    const gold = await symbolOf(ledger, 'XAU');
    await ledger.ticks.append([tick(gold.id, 'a')], 'simulated');
    for (const days of [-30, 2, 20]) await requirePlausibleClock(ledger.engine, NOW + days * MS_PER_DAY);
  });

  test('is refused when it would close an open session or delete its ticks, and the message names both times and the flag', async () => {
    const { ledger, now } = await withTicks();
    await requirePlausibleClock(ledger.engine, now);
    await requirePlausibleClock(ledger.engine, now + MS_PER_DAY - 60_000);
    for (const days of [2, 20, -2]) {
      const wrong = now + days * MS_PER_DAY;
      const refused = requirePlausibleClock(ledger.engine, wrong);
      await expect(refused).rejects.toThrow(ClockRefused);
      await expect(refused).rejects.toThrow(new Date(wrong).toISOString());
      await expect(refused).rejects.toThrow('--accept-clock');
    }
  });

  if (engine === 'sqlite') {
    test('may be days ahead after a rest that began when the sessions were over, but not so far that ticks would be deleted', async () => {
      const { ledger, gold } = await withTicks();
      const market = marketOf(gold.market);
      const ended = sessionEnd(market, tradeDate(market, NOW));
      const bar = { symbolId: gold.id, day: tradeDate(market, NOW), open: 1, high: 1, low: 1, close: 1 };
      await ledger.bars.publish([bar], { source: 'exchange', recordedAt: ended + 10_000 });
      await requirePlausibleClock(ledger.engine, ended + 4 * MS_PER_DAY);
      await expect(requirePlausibleClock(ledger.engine, ended + 8 * MS_PER_DAY)).rejects.toThrow(
        ClockRefused,
      );
      await expect(requirePlausibleClock(ledger.engine, ended - 2 * MS_PER_DAY)).rejects.toThrow(
        ClockRefused,
      );
    });
  }

  /** A ledger with a real tick of a session that is open; on PostgreSQL the right time is the database's. */
  async function withTicks() {
    const ledger = await ledgers.new();
    const gold = await symbolOf(ledger, 'XAU');
    await ledger.ticks.append([tick(gold.id, 'a')], 'exchange');
    const now = engine === 'postgres' ? await ledger.engine.now(ledger.engine.read) : NOW;
    return { ledger, gold, now };
  }
});
