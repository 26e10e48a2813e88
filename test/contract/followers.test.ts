import { expect, test } from 'bun:test';
import { nextRevision } from '../../src/ledger/engine/revisions.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { expectedOf, writeBatch } from '../support/children/batches.ts';
import { onEachEngine } from '../support/ledger.ts';
import { ledgersOf, symbolOf, tick } from '../support/ledgers.ts';
import { Follower } from '../support/replication/follower.ts';

const BATCHES = 20;

onEachEngine('followers', (engine) => {
  const ledgers = ledgersOf(engine);

  test('of two concurrent writers miss nothing, see nothing twice, and see one order', async () => {
    const [left, right] = await ledgers.pair();
    const writers = ['left1', 'left2', 'right1', 'right2'];
    const writing = Promise.all(
      writers.map((writer) => writeAll(writer.startsWith('left') ? left : right, writer)),
    );
    const followers = [new Follower(left), new Follower(right)] as const;
    await Promise.all(followers.map((follower) => follower.until(writing)));

    const expected = expectedOf(writers, BATCHES);
    for (const follower of followers) {
      expect(follower.ticks.map(({ id }) => id).sort()).toEqual(expected.ticks);
      expect([...follower.accounts].sort()).toEqual(expected.accounts);
      expect(follower.ticks).toEqual(follower.ticks.toSorted((a, b) => a.revision - b.revision));
      expect(follower.bars).toEqual(await barsOf(follower.ledger, expected.days));
    }
    for (const writer of writers) {
      const batches = followers[0].ticks.map(({ id }) => id.split('-')).filter(([name]) => name === writer);
      const numbers = batches.map(([, batch]) => Number(batch));
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b)); // in the order of writing
    }
    const inOneOrder = ({ ticks }: Follower) =>
      ticks.toSorted((a, b) => a.revision - b.revision || (a.id < b.id ? -1 : 1));
    expect(inOneOrder(followers[0])).toEqual(inOneOrder(followers[1]));
  });

  test('see no later revision while an earlier one is still being written', async () => {
    const [slow, fast] = await ledgers.pair();
    const symbolId = (await symbolOf(slow, 'XAU')).id;
    const before = await slow.head();
    const started = Promise.withResolvers<number>();
    const finish = Promise.withResolvers<void>();
    const slowWrite = slow.engine.write(async (tx) => {
      started.resolve(await nextRevision(tx, 'prices'));
      await finish.promise;
    });
    const slowRevision = await started.promise;
    const fastWrite = fast.ticks.append([tick(symbolId, 'fast')], 'exchange');
    // While the first is open, neither is visible.
    for (let polls = 0; polls < 20; polls++) {
      expect(await fast.head()).toEqual(before);
      expect(await slow.head()).toEqual(before);
      await Bun.sleep(0);
    }
    finish.resolve();
    await Promise.all([slowWrite, fastWrite]);
    const [seen] = await slow.ticks.since(before.prices, (await slow.head()).prices);
    expect(seen!.revision).toBeGreaterThan(slowRevision);
  });

  test('of accounts are notified of the plans, accounts and keys that changed, and of no others', async () => {
    const ledger = await ledgers.shared();
    const account = { id: 'a1', name: 'A', plan: 'free', status: 'active', createdAt: 1 } as const;
    await ledger.accounts.create(account);
    await ledger.accounts.create({ ...account, id: 'a2' });
    const before = (await ledger.head()).accounts;
    await ledger.accounts.update('a2', { status: 'suspended' });
    const [plan] = await ledger.plans.list();
    await ledger.plans.set({ ...plan!, quota: 5 });
    const after = (await ledger.head()).accounts;
    expect(await ledger.accounts.changes(before, after)).toEqual({
      plans: [{ ...plan!, quota: 5 }],
      accountIds: ['a2'],
      keyOwnerIds: [],
    });
    expect(await ledger.accounts.changes(after, after)).toEqual({
      plans: [],
      accountIds: [],
      keyOwnerIds: [],
    });
  });
});

async function writeAll(ledger: Ledger, name: string): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch++) await writeBatch(ledger, name, batch);
}

/** The bars as a follower that missed nothing has them. */
async function barsOf(ledger: Ledger, days: readonly number[]): Promise<Map<string, number[]>> {
  const all = await ledger.bars.revisions(1, 'real', days[0]!, days.at(-1)!);
  const byDay = Map.groupBy(all, ({ day }) => `1/${day}`);
  return new Map([...byDay].map(([key, versions]) => [key, versions.map(({ revision }) => revision)]));
}
