import { expect, test } from 'bun:test';
import catalog from '../../src/ledger/catalog/symbols.json' with { type: 'json' };
import { Ledger } from '../../src/ledger/ledger.ts';
import type { SymbolRecord } from '../../src/market/symbol.ts';
import { newLedgerUrl, onEachEngine } from '../support/ledger.ts';
import { fixedClock, ledgersOf, symbolOf } from '../support/ledgers.ts';

const FIRST_VERSION = catalog.slice(0, 131) as SymbolRecord[];
const ADDED = catalog.slice(131) as SymbolRecord[];

onEachEngine('a ledger with the catalogue of the first version', (engine) => {
  const ledgers = ledgersOf(engine);

  /** A ledger as the first version left it, changed by its operator. */
  async function oldLedger(change: (ledger: Ledger) => Promise<unknown> = async () => {}): Promise<string> {
    const url = await newLedgerUrl(engine);
    const ledger = await Ledger.open(url, fixedClock);
    for (const { code } of ADDED) await ledger.symbols.delete((await symbolOf(ledger, code)).id);
    const old = { ...(await symbolOf(ledger, 'LGO')), unit: { symbol: '100 MT', name: '100 Tonnes' } };
    await ledger.symbols.upsert([old], []);
    await ledger.setMeta('catalog', 'filled');
    await change(ledger);
    await ledger.close();
    return url;
  }

  test('gets the new symbols and the corrected units from the next server', async () => {
    const url = await oldLedger();
    const ledger = await Ledger.open(url, fixedClock, 'serving');
    expect(await ledger.symbols.list()).toHaveLength(catalog.length);
    expect((await symbolOf(ledger, 'LGO')).unit.symbol).toBe('MT');
    expect((await ledger.symbols.aliases()).find(({ alias }) => alias === 'CARBON')?.code).toBe('EUA');
    const head = await ledger.head();
    await ledger.close();
    const again = await ledgers.open(url);
    expect(await again.head()).toEqual(head);
  });

  test('gets the new aliases; guesses follow the catalogue, and aliases of the operator stay', async () => {
    const url = await oldLedger((ledger) =>
      ledger.symbols.upsert(
        [],
        [
          { alias: 'BRENT', code: 'BRENTOIL-FUT', kind: 'guess' },
          { alias: 'SOYBEANS', code: 'SOYBEAN-SPOT', kind: 'operator' },
          { alias: 'LITHIUM', code: 'ZINC', kind: 'operator' },
        ],
        { moveAliases: true },
      ),
    );
    const ledger = await Ledger.open(url, fixedClock, 'serving');
    const codes = new Map((await ledger.symbols.aliases()).map(({ alias, code }) => [alias, code]));
    await ledger.close();
    expect(codes.get('PLATINUM')).toBe('PL');
    expect(codes.get('BRENT')).toBe('BRENTOIL-SPOT');
    expect(codes.get('SOYBEANS')).toBe('SOYBEAN-SPOT');
    expect(codes.get('LITHIUM')).toBe('ZINC');
  });

  test('gets them from `migrate`, and not from a command that only works with it', async () => {
    const url = await oldLedger();
    expect(await (await ledgers.open(url)).symbols.list()).toHaveLength(FIRST_VERSION.length);
    await Ledger.migrate(url, fixedClock);
    expect(await (await ledgers.open(url)).symbols.list()).toHaveLength(catalog.length);
  });

  test('keeps what its operator has deleted, added under the same code, or filled with real prices', async () => {
    const url = await oldLedger(async (ledger) => {
      await ledger.symbols.delete((await symbolOf(ledger, 'TEL')).id);
      const lgo = await symbolOf(ledger, 'LGO');
      await ledger.symbols.upsert([{ ...lgo, code: 'EUA', name: 'Ours' }], []);
      await ledger.symbols.upsert([], [{ alias: 'JET', code: 'LGO', kind: 'guess' }]);
      const bar = { symbolId: lgo.id, day: 20_000, open: 1, high: 1, low: 1, close: 1 };
      await ledger.bars.publish([bar], { source: 'desk', recordedAt: fixedClock.now() });
    });
    const ledger = await Ledger.open(url, fixedClock, 'serving');
    const symbols = new Map((await ledger.symbols.list()).map((symbol) => [symbol.code, symbol]));
    expect(symbols.has('TEL')).toBe(false);
    expect(symbols.has('JET')).toBe(false);
    expect(symbols.get('EUA')!.name).toBe('Ours');
    expect(symbols.get('LGO')!.unit.symbol).toBe('100 MT');
    expect(symbols.has('MURBAN')).toBe(true);
    await ledger.close();
  });
});
