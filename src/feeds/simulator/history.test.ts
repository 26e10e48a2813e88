import { expect, test } from 'bun:test';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { ledgersOf } from '../../../test/support/ledgers.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { HistoryFiller } from './history.ts';

const NOON = Date.UTC(2026, 10, 11, 15);
const SYMBOLS = 16;
const silent = () => {};

/** Every edition of every day, without what depends on the order of the writes. */
async function editionsIn(ledger: Ledger, symbols: readonly LedgerSymbol[]) {
  const editions = [];
  for (const { id, code } of symbols) {
    for (const { day, close, reason } of await ledger.bars.revisions(id, 'simulated', 0, 100_000))
      editions.push(`${code} ${day} ${close} ${reason}`);
  }
  return editions;
}

onEachEngine('processes that fill one empty ledger together', (engine) => {
  const ledgers = ledgersOf(engine);

  test('write every edition once, and share the work', async () => {
    const alone = await ledgers.new();
    const symbols = (await alone.symbols.list()).slice(0, SYMBOLS);
    const before = (await alone.head()).prices;
    await new HistoryFiller(alone).fill(symbols, NOON, silent);
    const writesAlone = (await alone.head()).prices - before;

    const [first, second] = await ledgers.pair();
    const start = (await first.head()).prices;
    await Promise.all([first, second].map((one) => new HistoryFiller(one).fill(symbols, NOON, silent)));
    expect(await editionsIn(second, symbols)).toEqual(await editionsIn(alone, symbols));
    const writes = (await first.head()).prices - start;
    expect(writes).toBeLessThan(1.7 * writesAlone); // each by itself: twice as many
  });
});
