import { expect, test } from 'bun:test';
import { insertRows } from '../../../src/ledger/engine/statements.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { ledgerTables } from '../../../src/ledger/schema/tables.ts';
import { recordOf } from '../../../src/ledger/symbols/symbols.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { day, flat, ledgersOf, NOW, newSymbol, tick } from '../../support/ledgers.ts';

onEachEngine('deleting', (engine) => {
  const ledgers = ledgersOf(engine);

  test('an account deletes its rows in every table, and no others', async () => {
    const ledger = await ledgers.new();
    for (const id of ['going', 'staying']) {
      await ledger.accounts.create({ id, name: id, plan: 'pro', status: 'active', createdAt: 0 });
      await fillTables(ledger, 'account_id', id);
    }
    expect(await ledger.accounts.delete('going')).toBe(true);
    expect(await ownersIn(ledger, 'account_id', 'going')).toEqual([]);
    expect(await ownersIn(ledger, 'account_id', 'staying')).toEqual(tablesWith('account_id'));
    expect(await ledger.accounts.find('going')).toBeUndefined();
    expect(await ledger.accounts.find('staying')).toBeDefined();
    const head = await ledger.head();
    expect(head.accountsFrom).toBe(head.accounts); // every replica drops its cached keys
    expect(await ledger.accounts.delete('going')).toBe(false);
  });

  test('an account again deletes what a replica has counted since', async () => {
    const ledger = await ledgers.new();
    await ledger.engine.write(
      (tx) => tx`INSERT INTO usage_day (account_id, period, day, endpoint, count)
      VALUES ('gone', 202607, 1, 'latest', 5)`,
    );
    expect(await ledger.accounts.delete('gone')).toBe(true);
    expect(await ownersIn(ledger, 'account_id', 'gone')).toEqual([]);
  });

  test('a symbol deletes its rows in every table, and no others', async () => {
    const ledger = await ledgers.new();
    const [going, staying] = [await newSymbol(ledger), await newSymbol(ledger)];
    for (const { id } of [going, staying]) await fillTables(ledger, 'symbol_id', id);
    const bars = Array.from({ length: 2_500 }, (_, i) => ({ symbolId: going.id, day: i, ...flat(i + 1) }));
    await ledger.bars.publish(bars, { source: 'exchange', recordedAt: NOW });
    expect((await ledger.symbols.contentOf(going.id)).bars).toBeGreaterThanOrEqual(2_500);

    expect(await ledger.symbols.delete(going.id)).toBe(true);
    expect(await ownersIn(ledger, 'symbol_id', going.id)).toEqual([]);
    expect(await ownersIn(ledger, 'symbol_id', staying.id)).toEqual(tablesWith('symbol_id'));
    const codes = (await ledger.symbols.list()).map(({ code }) => code);
    expect([codes.includes(going.code), codes.includes(staying.code)]).toEqual([false, true]);
    const head = await ledger.head();
    expect(head.pricesFrom).toBe(head.prices);
    expect(await ledger.symbols.delete(going.id)).toBe(false);
  });

  test('a symbol that is marked takes no prices, is not listed, and is deleted in the background', async () => {
    const ledger = await ledgers.new();
    const symbol = await newSymbol(ledger);
    await ledger.symbols.upsert([], [{ alias: 'OLDNAME', code: symbol.code, kind: 'operator' }]);
    await ledger.ticks.append([tick(symbol.id, 'a')], 'exchange');
    await ledger.symbols.markDeleted(symbol.id);
    expect((await ledger.symbols.aliases()).map(({ alias }) => alias)).not.toContain('OLDNAME');
    const none = `no symbol has the id ${symbol.id}`;
    expect(ledger.ticks.append([tick(symbol.id, 'b')], 'exchange')).rejects.toThrow(none);
    const bar = { symbolId: symbol.id, day: day('2024-05-14'), ...flat(1) };
    expect(ledger.bars.publish([bar], { source: 'exchange', recordedAt: NOW })).rejects.toThrow(none);
    expect(ledger.symbols.upsert([recordOf(symbol)], [])).rejects.toThrow('still being deleted');
    await ledger.retention.apply(NOW);
    expect(await ownersIn(ledger, 'symbol_id', symbol.id)).toEqual([]);
  });

  test('the newest symbol does not free its id for another one', async () => {
    const ledger = await ledgers.new();
    const symbol = await newSymbol(ledger);
    await ledger.symbols.delete(symbol.id);
    expect((await newSymbol(ledger)).id).toBeGreaterThan(symbol.id);
    await ledger.symbols.upsert([recordOf(symbol)], []);
    const again = (await ledger.symbols.list()).find(({ code }) => code === symbol.code)!;
    expect(again.id).toBeGreaterThan(symbol.id);
    expect(await ledger.bars.recent.span(again.id, 'real')).toBeUndefined();
  });
});

function tablesWith(column: string): string[] {
  const has = ledgerTables().filter(({ columns }) => columns.some(({ name }) => name === column));
  return has.map(({ name }) => name).sort();
}

/** Inserts a row of this owner into every table that refers to owners. */
async function fillTables(ledger: Ledger, column: string, owner: string | number): Promise<void> {
  const { engine } = ledger;
  const samples = { whole: 7, float: 0.1, text: `of ${owner}` };
  await engine.write(async (tx) => {
    for (const table of ledgerTables()) {
      if (!table.columns.some(({ name }) => name === column)) continue;
      const row = table.columns.map(({ name, kind }) => {
        if (name === column) return owner;
        return name === 'id' && kind === 'whole' ? 1_000 + Number(owner) : samples[kind];
      });
      await insertRows(engine, tx, table.name, [row]);
    }
  });
}

/** The tables that have rows of this owner. */
async function ownersIn(ledger: Ledger, column: string, owner: string | number): Promise<string[]> {
  const { read, placeholder } = ledger.engine;
  const found: string[] = [];
  for (const table of tablesWith(column)) {
    const rows = await read.unsafe(`SELECT 1 FROM ${table} WHERE ${column} = ${placeholder(1)} LIMIT 1`, [
      owner,
    ]);
    if (rows.length > 0) found.push(table);
  }
  return found;
}
