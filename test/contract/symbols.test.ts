import { expect, test } from 'bun:test';
import { recordOf } from '../../src/ledger/symbols/symbols.ts';
import type { SymbolRecord } from '../../src/market/symbol.ts';
import { onEachEngine, onPostgres } from '../support/ledger.ts';
import { day, flat, ledgersOf, symbolOf, unique } from '../support/ledgers.ts';
import { newDatabase } from '../support/postgres.ts';

const MITHRIL: SymbolRecord = {
  code: 'MITHRIL',
  name: 'Mithril',
  category: 'Metals',
  currency: { code: 'USX', name: 'US Cent', symbol: '¢' },
  unit: { symbol: 'T.oz', name: 'Troy Ounce' },
  market: 'COMEX',
  decimals: 3,
  status: 'active',
  updateInterval: 'week',
};

onEachEngine('symbols', (engine) => {
  const ledgers = ledgersOf(engine);

  test('a symbol comes back as it was written', async () => {
    const ledger = await ledgers.shared();
    const mithril = aSymbol();
    expect(await ledger.symbols.upsert([mithril], [])).toEqual({ added: 1, changed: 0, unchanged: 0 });
    const found = await symbolOf(ledger, mithril.code);
    expect(recordOf(found)).toEqual(mithril);
    expect(found.real).toBe(false);
  });

  test('each field can be changed, the id stays, and the same again changes nothing', async () => {
    const ledger = await ledgers.shared();
    const mithril = aSymbol();
    await ledger.symbols.upsert([mithril], []);
    const before = await symbolOf(ledger, mithril.code);
    const changed: SymbolRecord = {
      ...mithril,
      name: 'Moria-silver',
      category: 'Myth',
      currency: { code: 'EUR', name: 'Euro', symbol: '€' },
      unit: { symbol: 'kg', name: 'Kilogram' },
      market: 'LME',
      decimals: 0,
      status: 'deprecated',
      updateInterval: 'month',
    };
    expect(await ledger.symbols.upsert([changed], [])).toEqual({ added: 0, changed: 1, unchanged: 0 });
    expect(await symbolOf(ledger, mithril.code)).toEqual({ ...changed, id: before.id, real: false });
    expect(await ledger.symbols.upsert([changed], [])).toEqual({ added: 0, changed: 0, unchanged: 1 });
  });

  test('the unit and the currency of a symbol with prices change only on request: its prices are not converted', async () => {
    const ledger = await ledgers.shared();
    const mithril = aSymbol();
    await ledger.symbols.upsert([mithril], []);
    const { id: symbolId } = await symbolOf(ledger, mithril.code);
    await ledger.bars.publish([{ symbolId, day: day('2026-07-14'), ...flat(1) }], {
      source: 'exchange',
      recordedAt: 1,
    });
    const inTonnes = { ...mithril, unit: { symbol: 'MT', name: 'Metric Ton' } };
    const inEuros = { ...mithril, currency: { code: 'EUR', name: 'Euro', symbol: '€' } };
    for (const changed of [inTonnes, inEuros])
      await expect(ledger.symbols.upsert([changed], [])).rejects.toThrow(`${mithril.code} has prices in`);
    const renamed = { ...mithril, unit: { ...mithril.unit, name: 'Renamed' } };
    expect(await ledger.symbols.upsert([renamed], [])).toMatchObject({ changed: 1 });
    expect(await ledger.symbols.upsert([inTonnes], [], { relabel: true })).toMatchObject({ changed: 1 });
  });

  test('a change of its record does not bring a symbol back to simulated prices', async () => {
    const ledger = await ledgers.shared();
    const { id } = await symbolOf(ledger, 'XAU');
    await ledger.bars.publish([{ symbolId: id, day: day('2026-07-14'), ...flat(1) }], {
      source: 'exchange',
      recordedAt: 1,
    });
    await ledger.symbols.upsert([{ ...recordOf(await symbolOf(ledger, 'XAU')), name: 'Gold, fine' }], []);
    const after = await symbolOf(ledger, 'XAU');
    expect([after.name, after.real]).toEqual(['Gold, fine', true]);
  });

  test('an alias stands for one symbol, and moves to another only on request', async () => {
    const ledger = await ledgers.shared();
    const mithril = aSymbol();
    const alias = unique('ALIAS');
    await ledger.symbols.upsert([mithril], [{ alias, code: mithril.code, kind: 'guess' }]);
    expect(await ledger.symbols.aliases()).toContainEqual({ alias, code: mithril.code, kind: 'guess' });
    const moved = [{ alias, code: 'XAG', kind: 'legacy' }];
    await expect(ledger.symbols.upsert([], moved)).rejects.toThrow(
      `alias ${alias} stands for ${mithril.code} already`,
    );
    await ledger.symbols.upsert([], moved, { moveAliases: true });
    const found = (await ledger.symbols.aliases()).filter((one) => one.alias === alias);
    expect(found).toEqual([{ alias, code: 'XAG', kind: 'legacy' }]);
  });

  test('a code that two symbols of one call claim as an alias is refused', async () => {
    const ledger = await ledgers.shared();
    const [one, other] = [aSymbol(), aSymbol()];
    const alias = unique('ALIAS');
    const both = [one, other].map(({ code }) => ({ alias, code, kind: 'operator' }));
    await expect(ledger.symbols.upsert([one, other], both)).rejects.toThrow(`stands for ${one.code} already`);
  });

  test('the code of a formula is no alias, also while aliases are moved, and an alias is no formula', async () => {
    const ledger = await ledgers.shared();
    const mithril = aSymbol();
    const taken = [{ alias: 'GOLDSILVER', code: mithril.code, kind: 'operator' }];
    for (const moveAliases of [false, true]) {
      const wrong = ledger.symbols.upsert([mithril], taken, { moveAliases });
      await expect(wrong).rejects.toThrow('GOLDSILVER is the code of a formula');
    }
    const formula = { code: 'GOLD', name: 'X', expression: '{XAG}*2', unit: 'none', currency: 'none' };
    expect(await ledger.formulas.define(formula)).toEqual({ problem: 'GOLD is an alias of XAU' });
  });

  test('a new alias counts as a change of its symbol and is audited, also for the symbol that loses it', async () => {
    const ledger = (await ledgers.shared()).as({ name: 'kim', via: 'cli' });
    const [one, other] = [aSymbol(), aSymbol()];
    const alias = unique('ALIAS');
    const entries = async () =>
      (await ledger.audit.list({ limit: 4 })).map(({ action, target, details }) => ({
        action,
        target,
        details,
      }));
    await ledger.symbols.upsert([one, other], []);
    const first = [{ alias, code: one.code, kind: 'operator' }];
    expect(await ledger.symbols.upsert([one, other], first)).toEqual({ added: 0, changed: 1, unchanged: 1 });
    const gained = {
      action: 'symbol.update' as const,
      target: one.code,
      details: { aliases: [[], [alias]] },
    };
    expect((await entries())[0]).toEqual(gained);
    expect(await ledger.symbols.upsert([one, other], first)).toEqual({ added: 0, changed: 0, unchanged: 2 });
    const second = [{ alias, code: other.code, kind: 'operator' }];
    expect(await ledger.symbols.upsert([other], second, { moveAliases: true })).toMatchObject({ changed: 2 });
    expect((await entries()).slice(0, 2)).toContainEqual({
      action: 'symbol.update',
      target: one.code,
      details: { aliases: [[alias], []] },
    });
  });

  test('an alias of nothing is refused, and nothing of the same call is kept', async () => {
    const ledger = await ledgers.shared();
    const mithril = aSymbol();
    const wrong = ledger.symbols.upsert([mithril], [{ alias: 'A', code: 'NOTHING', kind: 'guess' }]);
    await expect(wrong).rejects.toThrow('NOTHING');
    await expect(symbolOf(ledger, mithril.code)).rejects.toThrow('no symbol');
  });

  test('a word is a code or an alias, never both, whichever came first', async () => {
    const ledger = await ledgers.shared();
    const mithril = aSymbol();
    const overCode = ledger.symbols.upsert([], [{ alias: 'XAU', code: 'XAG', kind: 'guess' }]);
    await expect(overCode).rejects.toThrow('alias XAU is also the code of a symbol');
    await ledger.symbols.upsert([], [{ alias: mithril.code, code: 'XAG', kind: 'guess' }]);
    const overAlias = ledger.symbols.upsert([mithril], []);
    await expect(overAlias).rejects.toThrow(`alias ${mithril.code} is also the code of a symbol`);
  });

  test('every change increases the price revision, so that followers read it', async () => {
    const ledger = await ledgers.shared();
    const mithril = aSymbol();
    const before = await ledger.head();
    await ledger.symbols.upsert([mithril], []);
    expect((await ledger.head()).prices).toBeGreaterThan(before.prices);
  });

  test('lists are sorted by code, letter by letter', async () => {
    const ledger = await ledgers.shared();
    const codes = (await ledger.symbols.list()).map(({ code }) => code);
    const aliases = (await ledger.symbols.aliases()).map(({ alias }) => alias);
    expect(codes).toEqual(codes.toSorted());
    expect(aliases).toEqual(aliases.toSorted());
  });
});

onPostgres('symbols on a PostgreSQL whose language sorts words its own way', () => {
  const ledgers = ledgersOf('postgres');

  test('are sorted as on any other ledger', async () => {
    const url = await newDatabase(`TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`);
    const ledger = await ledgers.open(url);
    await ledger.symbols.upsert(
      ['XAU_', 'XAUA', 'XAU-', 'XAU9'].map((code) => ({ ...MITHRIL, code })),
      [],
    );
    const codes = (await ledger.symbols.list()).map(({ code }) => code);
    expect(codes).toEqual(codes.toSorted());
    await ledger.plans.set({ ...(await ledger.plans.list())[0]!, name: 'Zeta' });
    const plans = (await ledger.plans.list()).map(({ name }) => name);
    expect(plans).toEqual(plans.toSorted());
  });
});

function aSymbol(): SymbolRecord {
  return { ...MITHRIL, code: unique('MITHRIL') };
}
