import { expect, test } from 'bun:test';
import { Ledger } from '../../src/ledger/ledger.ts';
import { SCHEMA_VERSION } from '../../src/ledger/schema/migrations.ts';
import { loadFixture } from '../schemas/fixture.ts';
import { newLedgerUrl, onEachEngine } from '../support/ledger.ts';
import { fixedClock, ledgersOf } from '../support/ledgers.ts';
import { CATALOGUE_SIZE } from '../support/responses/catalogue.ts';

const OLD = SCHEMA_VERSION - 2;

onEachEngine('the schema policy', (engine) => {
  const ledgers = ledgersOf(engine);

  for (const use of ['working', 'feeding'] as const) {
    test(`a ledger of an older schema is refused when it is opened for ${use}, and stays as it is`, async () => {
      const url = await loadFixture(OLD, engine);
      await expect(Ledger.open(url, fixedClock, use)).rejects.toThrow(
        `the ledger has schema ${OLD}, and this program needs schema ${SCHEMA_VERSION}: back it up, then run "openpit migrate"`,
      );
      expect((await Ledger.schema(url, fixedClock)).version).toBe(OLD);
    });
  }

  test('a server brings a ledger of an older schema up to date', async () => {
    const url = await loadFixture(OLD, engine);
    await (await Ledger.open(url, fixedClock, 'serving')).close();
    expect(await Ledger.schema(url, fixedClock)).toEqual({ version: SCHEMA_VERSION, pending: [] });
  });

  test('reading the schema names the pending migrations and applies none', async () => {
    const url = await loadFixture(OLD, engine);
    const { version, pending } = await Ledger.schema(url, fixedClock);
    expect(version).toBe(OLD);
    expect(pending.map(({ id }) => id)).toEqual([OLD + 1, OLD + 2]);
    expect((await Ledger.schema(url, fixedClock)).version).toBe(OLD);
  });

  test('concurrent migrations upgrade once, and each reports the state it found', async () => {
    const url = await loadFixture(OLD, engine);
    const found = await Promise.all([1, 2, 3].map(() => Ledger.migrate(url, fixedClock)));
    expect(found.filter(({ version }) => version === OLD)).toHaveLength(1);
    expect(found.filter(({ version }) => version === SCHEMA_VERSION)).toHaveLength(2);
  });

  test('migrating where there is no ledger creates one that commands can use', async () => {
    const url = await newLedgerUrl(engine);
    expect((await Ledger.migrate(url, fixedClock)).version).toBe(0);
    expect(await (await ledgers.open(url)).symbols.list()).toHaveLength(CATALOGUE_SIZE);
  });
});
