import { beforeAll, expect, test } from 'bun:test';
import { createAccount } from '../../src/gate/onboarding.ts';
import type { Sql } from '../../src/ledger/engine/rows.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { DEFAULT_RETENTION } from '../../src/ledger/retention/rules.ts';
import { deleteMarked } from '../../src/ledger/symbols/delete-symbol.ts';
import { recordOf } from '../../src/ledger/symbols/symbols.ts';
import { MS_PER_DAY } from '../../src/market/day.ts';
import { onPostgres } from '../support/ledger.ts';
import { fixedClock, flat, ledgersOf, NOW, newSymbol, unique } from '../support/ledgers.ts';

/** On SQLite, a transaction begins only when no other one is open. */
onPostgres('a change that waits for another one on postgres', () => {
  const ledgers = ledgersOf('postgres');
  let ledger: Ledger;
  let other: Ledger;
  beforeAll(async () => {
    [ledger, other] = await ledgers.pair();
  });

  /** Commits `first` when `second`, which has read what was there before, waits for a row of it. */
  async function interleave<T>(first: (tx: Sql) => Promise<unknown>, second: () => Promise<T>): Promise<T> {
    let result: Promise<T> | undefined;
    await ledger.engine.write(async (tx) => {
      await first(tx);
      result = second();
      result.catch(() => {}); // the caller awaits it
      await waiting();
    });
    return await result!;
  }

  async function waiting(): Promise<void> {
    const find = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    while ((await ledger.engine.read.unsafe(find)).length === 0) await Bun.sleep(1);
  }

  test('does not relabel a symbol that gets its first real price', async () => {
    const symbol = await newSymbol(ledger);
    const gram = { ...recordOf(symbol), unit: { symbol: 'g', name: 'gram' } };
    const relabelling = interleave(
      async (tx) => {
        await tx`UPDATE counter SET value = value + 1 WHERE name = 'prices'`;
        await tx`UPDATE symbol SET real_revision = 1 WHERE id = ${symbol.id}`;
      },
      () => other.symbols.upsert([gram], []),
    );
    await expect(relabelling).rejects.toThrow(`${symbol.code} has prices in USD/T.oz`);
  });

  test('deletes a symbol with all rows that are written meanwhile', async () => {
    const { id } = await newSymbol(ledger);
    await ledger.symbols.markDeleted(id);
    await interleave(
      async (tx) => {
        await tx`UPDATE counter SET value = value + 1 WHERE name = 'prices'`;
        await tx`INSERT INTO bar_change (revision, symbol_id, first_day, last_day, recorded_at)
          SELECT -n, ${id}, 1, 1, 1 FROM generate_series(1, 1001) AS n`;
      },
      () => deleteMarked(other.engine),
    );
    for (const table of ['symbol WHERE id', 'bar_change WHERE symbol_id'])
      expect(await ledger.engine.read.unsafe(`SELECT 1 FROM ${table} = ${id}`)).toHaveLength(0);
  });

  test('does not delete an alarm that begins again', async () => {
    const alarm = { name: unique('alarm') };
    await ledger.alarms.end(alarm, 60_000); // leaves a row without an alarm
    await interleave(
      (tx) => tx`UPDATE meta SET value = '{"phase":"active"}' WHERE name = ${`alarm ${alarm.name}`}`,
      () => other.alarms.forget(),
    );
    expect(await ledger.meta(`alarm ${alarm.name}`)).toBe('{"phase":"active"}');
  });

  test('does not delete a machine that serves again', async () => {
    await ledger.setMeta('machine back', '1');
    await interleave(
      (tx) => tx`UPDATE meta SET value = '2' WHERE name = 'machine back'`,
      () => other.machines.record('mine'),
    );
    expect(await ledger.meta('machine back')).toBe('2');
  });

  test('does not delete a key whose expiry is extended', async () => {
    const { issued } = await createAccount(ledger, { name: 'A', plan: 'pro' }, NOW);
    const { id } = issued.key;
    await ledger.keys.update(id, { expiresAt: NOW - DEFAULT_RETENTION.keysDays * MS_PER_DAY - 1 });
    await interleave(
      (tx) => tx`UPDATE api_key SET expires_at = NULL WHERE id = ${id}`,
      () => other.retention.apply(fixedClock.now()),
    );
    expect((await ledger.keys.find(id))?.expiresAt).toBeNull();
  });

  test('does not delete a bar that is held again', async () => {
    const { id: symbolId } = await newSymbol(ledger);
    const bar = { symbolId, day: 20_000, ...flat(5) };
    const holding = { source: 'exchange', origin: 'push', received: NOW };
    await ledger.heldBars.hold([{ bar, reason: 'far' }], holding);
    await ledger.engine.write(
      (tx) => tx`UPDATE quarantine_bar SET state = 'released', decided_at = 1, decided_by = 'operator'
        WHERE symbol_id = ${symbolId}`,
    );
    await interleave(
      (tx) => tx`UPDATE quarantine_bar SET state = 'held', decided_at = NULL WHERE symbol_id = ${symbolId}`,
      () => other.retention.apply(fixedClock.now()),
    );
    const [held] = await ledger.engine.read`SELECT state FROM quarantine_bar WHERE symbol_id = ${symbolId}`;
    expect(held?.state).toBe('held');
  });
});
