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

  test('gets what the second version added only once: what its operator has deleted since stays deleted', async () => {
    const url = await oldLedger();
    await Ledger.migrate(url, fixedClock);
    const second = await ledgers.open(url);
    for (const code of ['HIDES', 'PJM-POWER']) await second.symbols.delete((await symbolOf(second, code)).id);
    await second.setMeta('catalog', '2');
    const ledger = await Ledger.open(url, fixedClock, 'serving');
    const codes = (await ledger.symbols.list()).map(({ code }) => code);
    await ledger.close();
    expect(codes).not.toContain('HIDES');
    expect(codes).toContain('PJM-POWER');
  });

  test('is extended while one of its symbols is being deleted, and that symbol is not corrected', async () => {
    const url = await oldLedger(async (ledger) =>
      ledger.symbols.markDeleted((await symbolOf(ledger, 'LGO')).id),
    );
    const ledger = await Ledger.open(url, fixedClock, 'serving');
    await ledger.retention.apply(fixedClock.now());
    const codes = (await ledger.symbols.list()).map(({ code }) => code);
    await ledger.close();
    expect(codes).toContain('MURBAN');
    expect(codes).not.toContain('LGO');
  });

  test('keeps a formula of its operator that has the code of a new symbol', async () => {
    const power = { code: 'PJM-POWER', name: 'Ours', expression: '{NG-FUT}*8', unit: 'MWh', currency: 'USD' };
    const url = await oldLedger((ledger) => ledger.formulas.define(power));
    const ledger = await Ledger.open(url, fixedClock, 'serving');
    expect(await ledger.formulas.list()).toContainEqual(power);
    expect((await ledger.symbols.list()).map(({ code }) => code)).not.toContain('PJM-POWER');
    await ledger.close();
  });
});
