import { expect, test } from 'bun:test';
import { expectedOf, writeBatch } from '../support/children/batches.ts';
import { Child } from '../support/children/child.ts';
import { newLedgerUrl, onEachEngine } from '../support/ledger.ts';
import { ledgersOf } from '../support/ledgers.ts';
import { Follower } from '../support/replication/follower.ts';
import { CATALOGUE_SIZE, FIRST_REVISION } from '../support/responses/catalogue.ts';

const BATCHES = 40;

onEachEngine('two processes', (engine) => {
  const ledgers = ledgersOf(engine);

  test('write at the same time: no row is lost, no write is refused, a follower sees all', async () => {
    const url = await newLedgerUrl(engine);
    const child = new Child('child-writer.ts', url, 'write', 'theirs', String(BATCHES));
    const ledger = await ledgers.open(url); // both create the ledger, in any order
    await child.says('ready');
    child.go();
    const ours = (async () => {
      for (let batch = 0; batch < BATCHES; batch++) await writeBatch(ledger, 'ours', batch);
    })();
    const follower = new Follower(ledger);
    await follower.until(Promise.all([ours, child.says('done')]));
    expect(await child.exited).toBe(0);

    const expected = expectedOf(['ours', 'theirs'], BATCHES);
    expect(follower.ticks.map(({ id }) => id).sort()).toEqual(expected.ticks);
    expect([...follower.accounts].sort()).toEqual(expected.accounts);
    expect([...follower.bars.keys()].sort()).toEqual(expected.days.map((day) => `1/${day}`).sort());
    expect((await ledger.accounts.list()).map(({ id }) => id).sort()).toEqual(expected.accounts);
  });

  test('a write does not wait for the end of another process’s bulk write', async () => {
    const url = await newLedgerUrl(engine);
    const ledger = await ledgers.open(url);
    const child = new Child('child-writer.ts', url, 'crowd', 'theirs', '150');
    await child.says('ready');
    const before = (await ledger.head()).accounts;
    child.go();
    while ((await ledger.head()).accounts < before + 3) await Bun.sleep(1);
    for (let n = 0; n < 10; n++) await ledger.setMeta('note/line', `${n}`);
    // One or two of theirs for each of ours. Without fairness it would be nearly all of them.
    expect((await ledger.head()).accounts - before).toBeLessThan(75);
    await child.says('done');
  });

  test('a write that waits for another process leaves the event loop free, and reads go on', async () => {
    const url = await newLedgerUrl(engine);
    const ledger = await ledgers.open(url);
    const child = new Child('child-writer.ts', url, 'hold', 'mine');
    await child.says('ready');
    child.go();
    await child.says('held');

    let waiting = true;
    const write = ledger.accounts
      .create({ id: 'late', name: 'late', plan: 'free', status: 'active', createdAt: 1 })
      .finally(() => {
        waiting = false;
      });
    for (let turn = 0; turn < 50; turn++) {
      await Bun.sleep(1);
      expect(await ledger.accounts.find('late')).toBeUndefined();
    }
    expect(waiting).toBe(true); // a wait inside the database would have let none of these turns happen
    child.go();
    await child.says('done');
    await write;
    expect((await ledger.accounts.find('late'))?.id).toBe('late');
  });

  test('open a new ledger at the same time: it is migrated once and filled once', async () => {
    const url = await newLedgerUrl(engine);
    const children = Array.from(
      { length: 4 },
      (_, i) => new Child('child-writer.ts', url, 'write', `c${i}`, '0'),
    );
    for (const child of children) await child.says('ready');
    for (const child of children) child.go();
    expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0, 0]);
    const ledger = await ledgers.open(url);
    expect(await ledger.head()).toMatchObject({ prices: FIRST_REVISION, accounts: 5 });
    expect(await ledger.symbols.list()).toHaveLength(CATALOGUE_SIZE);
  });
});
