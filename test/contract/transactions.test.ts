import { beforeAll, beforeEach, expect, test } from 'bun:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { onEachEngine, onPostgres } from '../support/ledger.ts';
import { ledgersOf, symbolOf, tick } from '../support/ledgers.ts';
import { CATALOGUE_SIZE } from '../support/responses/catalogue.ts';

onEachEngine('transactions', (engine) => {
  const ledgers = ledgersOf(engine);
  let left: Ledger;
  let right: Ledger;
  beforeAll(async () => {
    [left, right] = await ledgers.pair();
  });
  beforeEach(async () => {
    await left.engine.write(async (tx) => {
      await tx`DELETE FROM meta WHERE name LIKE 'note/%'`;
    });
  });

  test('a failed one rolls back only its own rows', async () => {
    const writes = Array.from({ length: 40 }, (_, i) => note(i % 2 ? left : right, `n${i}`, i % 3 === 0));
    const outcomes = await Promise.allSettled(writes);
    const kept = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [`n${i}`] : []));
    expect(kept).toHaveLength(26);
    expect(await notes(left)).toEqual(kept.sort());
    expect(await notes(right)).toEqual(kept.sort());
  });

  test('one that fails leaves no gap in the revisions that others see', async () => {
    const ledger = left;
    const symbolId = (await symbolOf(ledger, 'XAU')).id;
    const { prices } = await ledger.head();
    await expect(ledger.ticks.append([tick(999_999, 'a')], 'exchange')).rejects.toThrow('999999');
    expect((await ledger.head()).prices).toBe(prices);
    await ledger.ticks.append([tick(symbolId, 'a')], 'exchange');
    expect((await ledger.head()).prices).toBe(prices + 1);
  });

  test('a statement that the database refuses undoes the whole transaction, and the next one works', async () => {
    const ledger = left;
    const twice = ledger.engine.write(async (tx) => {
      await tx`INSERT INTO meta (name, value) VALUES ('note/a', '')`;
      await tx`INSERT INTO meta (name, value) VALUES ('note/a', '')`;
    });
    await expect(twice).rejects.toThrow();
    expect(await notes(ledger)).toEqual([]);
    await note(ledger, 'b');
    expect(await notes(ledger)).toEqual(['b']);
  });

  test('a read during a transaction neither sees nor joins it, and a write waits or is a transaction of its own', async () => {
    const ledger = left;
    const opened = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const failing = ledger.engine.write(async (tx) => {
      await tx`INSERT INTO meta (name, value) VALUES ('note/lost', '')`;
      opened.resolve();
      await finish.promise;
      throw new Error('on purpose');
    });
    await opened.promise;
    expect(await notes(ledger)).toEqual([]);
    const other = note(ledger, 'kept');
    expect(await ledger.symbols.list()).toHaveLength(CATALOGUE_SIZE);
    finish.resolve();
    await expect(failing).rejects.toThrow('on purpose');
    await other;
    expect(await notes(ledger)).toEqual(['kept']);
  });

  test('one that is held open does not stop another ledger from reading', async () => {
    const [holder, reader] = [left, right];
    const opened = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const held = holder.engine.write(async (tx) => {
      await tx`UPDATE counter SET value = value + 1 WHERE name = 'prices'`;
      await tx`INSERT INTO meta (name, value) VALUES ('note/held', '')`;
      opened.resolve();
      await finish.promise;
    });
    await opened.promise;
    const before = await reader.head();
    expect(await notes(reader)).toEqual([]);
    finish.resolve();
    await held;
    expect((await reader.head()).prices).toBe(before.prices + 1);
    expect(await notes(reader)).toEqual(['held']);
  });

  test('a write returns the result of its callback', async () => {
    const ledger = left;
    expect(await ledger.engine.write(async () => 'answer')).toBe('answer');
  });

  test('closing waits for pending writes', async () => {
    const [first, second] = await ledgers.pair();
    const writes = Array.from({ length: 10 }, (_, i) => note(first, `n${i}`));
    await first.close();
    expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual(
      writes.map(() => 'fulfilled'),
    );
    expect(await notes(second)).toHaveLength(10);
  });

  test('two writers with the same new source agree on its id', async () => {
    const ids = await Promise.all([left, right, left, right].map((ledger) => ledger.sources.id('brand new')));
    expect(new Set(ids).size).toBe(1);
    expect((await right.sources.names()).get(ids[0]!)).toBe('brand new');
    expect(await left.sources.id('another')).not.toBe(ids[0]!);
  });
});

onPostgres('transactions on postgres that wait for each other', () => {
  const ledgers = ledgersOf('postgres');

  test('are detected as a deadlock, and the aborted one is retried completely', async () => {
    const ledger = await ledgers.new();
    await note(ledger, 'a');
    await note(ledger, 'b');
    const bothHoldOne = Promise.withResolvers<void>();
    let holding = 0;
    let attempts = 0;
    const crosswise = (first: string, second: string) =>
      ledger.engine.write(async (tx) => {
        attempts++;
        await tx`UPDATE meta SET value = value || '+' WHERE name = ${first}`;
        if (++holding === 2) bothHoldOne.resolve();
        await bothHoldOne.promise;
        await tx`UPDATE meta SET value = value || '+' WHERE name = ${second}`;
      });
    await Promise.all([crosswise('note/a', 'note/b'), crosswise('note/b', 'note/a')]);
    expect(attempts).toBeGreaterThanOrEqual(3); // the retry can collide with the other one again
    const rows = await ledger.engine.read`SELECT value FROM meta WHERE name IN ('note/a', 'note/b')`;
    expect(rows.map((row) => String(row.value))).toEqual(['done++', 'done++']);
  });
});

onPostgres('a transaction on postgres that its process leaves idle for too long', () => {
  const ledgers = ledgersOf('postgres');

  test('is rolled back, and retried completely', async () => {
    const { engine } = await ledgers.new();
    let attempts = 0;
    await engine.write(async (tx) => {
      attempts++;
      await tx`INSERT INTO meta (name, value) VALUES ('note/idle', ${String(attempts)})`;
      if (attempts > 1) return;
      const [session] = await tx`SELECT pg_backend_pid() AS pid`;
      await tx`SET LOCAL idle_in_transaction_session_timeout = 20`;
      const isRunning = async () =>
        (await engine.read`SELECT 1 FROM pg_stat_activity WHERE pid = ${Number(session!.pid)}`).length > 0;
      while (await isRunning());
      await tx`SELECT 1`;
    });
    const rows = await engine.read`SELECT value FROM meta WHERE name = 'note/idle'`;
    expect(rows.map((row) => String(row.value))).toEqual(['2']);
  });
});

/** A row that one transaction writes in two steps. */
async function note(ledger: Ledger, name: string, fails = false): Promise<void> {
  await ledger.engine.write(async (tx) => {
    await tx`INSERT INTO meta (name, value) VALUES (${`note/${name}`}, '')`;
    await Bun.sleep(0); // lets others interleave
    if (fails) throw new Error('on purpose');
    await tx`UPDATE meta SET value = 'done' WHERE name = ${`note/${name}`}`;
  });
}

async function notes(ledger: Ledger): Promise<string[]> {
  const rows = await ledger.engine.read`SELECT name FROM meta WHERE name LIKE 'note/%'`;
  return rows.map((row) => String(row.name).slice('note/'.length)).sort();
}
