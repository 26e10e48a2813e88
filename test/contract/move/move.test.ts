import { expect, test } from 'bun:test';
import type { Engine } from '../../../src/ledger/engine/engine.ts';
import { insertRows } from '../../../src/ledger/engine/statements.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { type MoveOptions, moveLedger } from '../../../src/ledger/move/move.ts';
import { openEngine } from '../../../src/ledger/open-engine.ts';
import { type LedgerTable, ledgerTables } from '../../../src/ledger/schema/tables.ts';
import { fillSampleLedger } from '../../schemas/sample-ledger.ts';
import { contentOf, tableNames } from '../../support/database/ledger-content.ts';
import { type EngineName, newLedgerUrl, onEachEngine } from '../../support/ledger.ts';
import { day, fixedClock, flat, ledgersOf, symbolOf } from '../../support/ledgers.ts';

const OTHER: Record<EngineName, EngineName> = { sqlite: 'postgres', postgres: 'sqlite' };

/** Small, so that a few rows make many pages. */
const SMALL_PAGES = { rowsPerPage: 40 };

onEachEngine('a ledger that is moved away', (engine) => {
  const ledgers = ledgersOf(engine);

  test('has no table that a move leaves out', async () => {
    const ledger = await ledgers.shared();
    const known = ledgerTables().map(({ name }) => name);
    expect(known.sort()).toEqual(await tableNames(ledger.engine));
  });

  test('is the same on the other engine and after the way back, in every row of every table', async () => {
    const source = await filledLedger(await ledgers.new());
    const before = await contentOf(source.engine);
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([]);

    const there = await movedTo(OTHER[engine], source.engine);
    expect(await contentOf(there.engine)).toEqual(before);
    expect(await there.quota.check()).toEqual(await source.quota.check());
    const back = await movedTo(engine, there.engine);
    expect(await contentOf(back.engine)).toEqual(before);
    expect(await contentOf(source.engine)).toEqual(before);

    const heads = [await source.head(), await there.head(), await back.head()];
    expect(new Set(heads.map(({ epoch }) => epoch)).size).toBe(3);
    expect(heads.map(({ prices, accounts }) => [prices, accounts])).toEqual(
      heads.map(() => [heads[0]!.prices, heads[0]!.accounts]),
    );
    await there.close();
    await back.close();
  });

  test('keeps prices bit by bit', async () => {
    const source = await ledgers.new();
    const gold = await symbolOf(source, 'XAU');
    const prices = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -37.63, 2 ** 53 - 1, 1 / 3, 4.35, 0];
    const rows = prices.map((price, i) => [gold.id, i, 1, price, price, price, price, 1, 0, null, 0, null]);
    await source.engine.write((tx) => insertRows(source.engine, tx, 'bar', rows));
    const there = await movedTo(OTHER[engine], source.engine);
    const read = (ledger: Ledger) =>
      ledger.engine.read`SELECT open, high, low, close FROM bar ORDER BY day`.values();
    expect((await read(there)).map((row) => row[3]!)).toEqual(prices);
    await there.close();
  });

  test('resumes where it was interrupted, after any page', async () => {
    const source = await filledLedger(await ledgers.new());
    const before = await contentOf(source.engine);
    for (const pages of [1, 2, 5, 9]) {
      const target = await newTarget(OTHER[engine]);
      const copied = await interrupted(source.engine, target, pages);
      const notes: string[] = [];
      let first: number | undefined;
      await moveLedger(source.engine, target, {
        ...SMALL_PAGES,
        onNote: (note) => notes.push(note),
        onProgress: ({ phase, done }) => {
          if (phase === 'copying' && done > 0) first ??= done;
        },
      });
      expect(notes).toEqual([expect.stringContaining('continuing an interrupted move')]);
      expect(first).toBeLessThanOrEqual(copied);
      expect(await contentOf(target)).toEqual(before);
      await target.close();
    }
  });

  test('cannot be opened at its target before the move is complete', async () => {
    const source = await filledLedger(await ledgers.new());
    const url = await newLedgerUrl(OTHER[engine]);
    const target = await openEngine(url, fixedClock, 'working');
    await interrupted(source.engine, target, 3);
    expect(Ledger.open(url, fixedClock)).rejects.toThrow('unfinished "openpit move"');
    await moveLedger(source.engine, target);
    await target.close();
    await (await Ledger.open(url, fixedClock)).close();
  });

  test('is moved as it is now when it was written to after an interruption', async () => {
    const source = await filledLedger(await ledgers.new());
    const gold = await symbolOf(source, 'XAU');
    const writes: Record<string, () => Promise<unknown>> = {
      prices: () =>
        source.bars.publish([{ symbolId: gold.id, day: day('1999-01-04'), ...flat(288) }], {
          source: 'exchange',
          recordedAt: 1,
        }),
      'a count, which takes no revision': () =>
        source.engine.write((tx) => tx`UPDATE usage_day SET count = count + 1`),
    };
    for (const write of Object.values(writes)) {
      const target = await newTarget(OTHER[engine]);
      await interrupted(source.engine, target, 12);
      await write();
      await moveLedger(source.engine, target, SMALL_PAGES);
      expect(await contentOf(target)).toEqual(await contentOf(source.engine));
      await target.close();
    }
  });

  test('is refused by a target that holds a ledger, or a part of another one', async () => {
    const source = await filledLedger(await ledgers.new());
    const occupied = await ledgers.new();
    const content = await contentOf(occupied.engine);
    expect(moveLedger(source.engine, occupied.engine)).rejects.toThrow('holds a ledger already');
    expect(await contentOf(occupied.engine)).toEqual(content);

    const target = await newTarget(OTHER[engine]);
    await interrupted(source.engine, target, 3);
    const another = await ledgers.open(await newLedgerUrl(engine)); // with an epoch of its own
    expect(moveLedger(another.engine, target)).rejects.toThrow('of another ledger');
    await target.close();
  });

  test('is not complete when one row differs in one bit', async () => {
    const source = await filledLedger(await ledgers.new());
    const target = await newTarget(OTHER[engine]);
    const tampering: Engine = {
      ...target,
      writePrices: (work) =>
        target.writePrices(async (tx) => {
          const result = await work(tx);
          await tx`UPDATE bar SET close = close + 0.0000000000005 WHERE close = 2336.1`;
          return result;
        }),
    };
    await expect(moveLedger(source.engine, tampering)).rejects.toThrow('the table bar differs');
    await target.close();
  });

  test('is not complete when the source is written to meanwhile, unless that is allowed', async () => {
    const source = await filledLedger(await ledgers.new());
    let writing: Promise<unknown> | undefined;
    const onProgress = () => {
      writing ??= source.symbols.addCurrencies(['ISK']);
    };
    const target = await newTarget(OTHER[engine]);
    // The next page waits for the write, so that it is committed before the move ends.
    const waiting: Engine = {
      ...target,
      writePrices: async (work) => {
        await writing;
        return target.writePrices(work);
      },
    };
    await expect(moveLedger(source.engine, waiting, { onProgress })).rejects.toThrow('was written to');
    await target.close();

    const late = await filledLedger(await ledgers.new());
    const snapshot = await contentOf(late.engine);
    const allowing = await newTarget(OTHER[engine]);
    let more: Promise<unknown> | undefined;
    await moveLedger(late.engine, allowing, {
      allowsWrites: true,
      onProgress() {
        more ??= late.symbols.addCurrencies(['ISK']);
      },
    });
    await more;
    expect(await contentOf(allowing)).toEqual(snapshot); // as it was when the move began
    await allowing.close();
  });
});

/** A sample with at least one row in every table, those of later migrations included. */
async function filledLedger(ledger: Ledger): Promise<Ledger> {
  await fillSampleLedger(ledger);
  await ledger.metaOnce('etag-secret', () => 'a secret');
  const { engine } = ledger;
  await engine.write(async (tx) => {
    for (const table of ledgerTables()) {
      const [row] = await tx.unsafe(`SELECT count(*) AS n FROM ${table.name}`);
      if (Number(row!.n) === 0) await insertRows(engine, tx, table.name, [sampleRow(table)]);
    }
  });
  return ledger;
}

function sampleRow({ columns }: LedgerTable) {
  const samples = { whole: 7, float: 0.1, text: 'a "quoted", text\n' };
  return columns.map(({ kind }) => samples[kind]);
}

async function newTarget(engine: EngineName): Promise<Engine> {
  return openEngine(await newLedgerUrl(engine), fixedClock, 'working');
}

async function movedTo(engine: EngineName, source: Engine): Promise<Ledger> {
  const url = await newLedgerUrl(engine);
  const target = await openEngine(url, fixedClock, 'working');
  await moveLedger(source, target, SMALL_PAGES);
  await target.close();
  return Ledger.open(url, fixedClock);
}

/** Moves until `pages` pages are committed, then fails. Returns how many rows were copied. */
async function interrupted(source: Engine, target: Engine, pages: number): Promise<number> {
  let left = pages;
  let copied = 0;
  const onProgress: MoveOptions['onProgress'] = ({ done }) => {
    copied = done;
    if (--left === 0) throw new Error('interrupted');
  };
  await expect(moveLedger(source, target, { ...SMALL_PAGES, onProgress })).rejects.toThrow('interrupted');
  return copied;
}
