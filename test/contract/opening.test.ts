import { describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT_IN_PLANS } from '../../src/ledger/accounts/built-in-plans.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { SCHEMA_VERSION } from '../../src/ledger/schema/migrations.ts';
import { newFolder, newLedgerUrl, onEachEngine } from '../support/ledger.ts';
import { fixedClock, ledgersOf, symbolOf } from '../support/ledgers.ts';
import { CATALOGUE_SIZE, FIRST_REVISION } from '../support/responses/catalogue.ts';

onEachEngine('opening', (engine) => {
  const ledgers = ledgersOf(engine);

  test('a new ledger has the catalogue, the aliases and the built-in plans', async () => {
    const ledger = await ledgers.open(await newLedgerUrl(engine));
    expect(await ledger.symbols.list()).toHaveLength(CATALOGUE_SIZE);
    expect((await ledger.symbols.aliases()).length).toBeGreaterThan(0);
    const byName = BUILT_IN_PLANS.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(await ledger.plans.list()).toEqual(byName);
    expect((await ledger.sources.names()).get(1)).toBe('simulated');
  });

  test('several at the same time migrate once and fill once', async () => {
    const url = await newLedgerUrl(engine);
    const opened = await Promise.all(Array.from({ length: 5 }, () => ledgers.open(url)));
    const heads = await Promise.all(opened.map((ledger) => ledger.head()));
    for (const head of heads) expect(head).toEqual(heads[0]!);
    expect(heads[0]).toMatchObject({ prices: FIRST_REVISION, accounts: BUILT_IN_PLANS.length });
    expect(await opened[0]!.symbols.list()).toHaveLength(CATALOGUE_SIZE);
    const [newest] = await opened[0]!.engine.read`SELECT max(id) AS id FROM migration`;
    expect(Number(newest!.id)).toBe(SCHEMA_VERSION);
  });

  test('again keeps the epoch, the revisions and what an operator changed', async () => {
    const url = await newLedgerUrl(engine);
    const first = await Ledger.open(url, fixedClock);
    const [plan] = await first.plans.list();
    await first.plans.set({ ...plan!, quota: 7 });
    await first.symbols.upsert([{ ...(await symbolOf(first, 'XAU')), name: 'Aurum' }], []);
    const head = await first.head();
    await first.close();
    const second = await ledgers.open(url);
    expect(await second.head()).toEqual(head);
    expect((await second.plans.list())[0]).toEqual({ ...plan!, quota: 7 });
    expect((await symbolOf(second, 'XAU')).name).toBe('Aurum');
  });

  test('two ledgers never share an epoch', async () => {
    const one = await ledgers.open(await newLedgerUrl(engine));
    const other = await ledgers.open(await newLedgerUrl(engine));
    expect((await one.head()).epoch).not.toBe((await other.head()).epoch);
  });

  test('a ledger of a newer program is refused, left as it is, and the message says what to do', async () => {
    const url = await newLedgerUrl(engine);
    const newer = await ledgers.open(url);
    await newer.engine.write(async (tx) => {
      await tx`INSERT INTO migration (id, title) VALUES (${SCHEMA_VERSION + 1}, 'from the future')`;
    });
    const head = await newer.head();
    await expect(Ledger.open(url, fixedClock)).rejects.toThrow(
      `the ledger has schema ${SCHEMA_VERSION + 1}, and this program knows schema ${SCHEMA_VERSION}: run a newer openpit`,
    );
    expect(await newer.head()).toEqual(head);
    await newer.sources.id('still writable'); // the refused one holds no lock
  });

  test('everything that counts is a number, not text', async () => {
    const ledger = await ledgers.shared();
    const head = await ledger.head();
    const [plan] = await ledger.plans.list();
    const { name: _, history: __, maxSpanDays: ___, ...limits } = plan!; // no number: as the version of the interface says
    const symbol = await symbolOf(ledger, 'XAU');
    const numbers = [
      head.prices,
      head.accounts,
      symbol.id,
      symbol.decimals,
      await ledger.bars.count(),
      await ledger.sources.id('exchange'),
      await ledger.engine.now(ledger.engine.read),
      ...Object.values(limits),
    ];
    expect(numbers.map((value) => typeof value)).toEqual(numbers.map(() => 'number'));
    expect(numbers.every(Number.isSafeInteger)).toBe(true);
  });
});

describe('opening on sqlite', () => {
  const ledgers = ledgersOf('sqlite');

  test('makes the folders of a path, with sqlite:// before it or not', async () => {
    const path = join(newFolder(), 'deep', 'down', 'ledger.db');
    const plain = await ledgers.open(path);
    const prefixed = await ledgers.open(`sqlite://${path}`);
    expect(await prefixed.head()).toEqual(await plain.head());
  });

  test('a file that is no ledger is refused', async () => {
    const path = join(newFolder(), 'letter.txt');
    writeFileSync(path, 'Dear Sir or Madam, this is not a database. '.repeat(100));
    await expect(Ledger.open(path, fixedClock)).rejects.toThrow('not a database');
  });

  test('a folder where the file should be is refused', async () => {
    const path = join(newFolder(), 'folder.db');
    mkdirSync(path);
    await expect(Ledger.open(path, fixedClock)).rejects.toThrow();
  });
});
