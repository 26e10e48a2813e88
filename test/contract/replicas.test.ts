import { expect, test } from 'bun:test';
import type { HeartbeatReport } from '../../src/ledger/operations/replicas.ts';
import { onEachEngine } from '../support/ledger.ts';
import { day, flat, ledgersOf, NOW, symbolOf, unique } from '../support/ledgers.ts';

onEachEngine('replicas', (engine) => {
  const ledgers = ledgersOf(engine);
  const beatOf = (id: string, revision: number): HeartbeatReport => ({
    id,
    name: 'host/1',
    version: '1.2.3',
    phase: 'ready',
    revision,
  });

  test('each has one row, with its start, its last heartbeat and the revision of both sides at that time', async () => {
    const [ledger, other] = await ledgers.pair();
    const { prices } = await ledger.head();
    await ledger.replicas.beat(beatOf('one', prices));
    await other.replicas.beat(beatOf('two', prices));
    const [first] = (await ledger.replicas.list()).replicas;
    const gold = await symbolOf(ledger, 'XAU');
    const bar = { symbolId: gold.id, day: day('2026-07-14'), ...flat(1) };
    await ledger.bars.publish([bar], { source: 'test', recordedAt: NOW });
    await ledger.replicas.beat({ ...beatOf('one', prices), phase: 'draining' });
    const { now, replicas } = await other.replicas.list();
    expect(replicas.map(({ id, phase, revision, head }) => [id, phase, head - revision])).toEqual([
      ['one', 'draining', 1],
      ['two', 'ready', 0],
    ]);
    expect(replicas[0]).toMatchObject({ name: 'host/1', version: '1.2.3', started: first!.started });
    expect(replicas[0]!.seen).toBeGreaterThanOrEqual(first!.seen);
    expect(replicas[0]!.seen).toBeLessThanOrEqual(now);
    expect(await ledger.head()).toMatchObject({ prices: prices + 1 }); // a heartbeat is not a price
  });

  test('one that shuts down is removed at once, a silent one after a day', async () => {
    const ledger = await ledgers.shared();
    const [left, died, recent, lives] = [unique('r'), unique('r'), unique('r'), unique('r')];
    for (const id of [left, died, recent, lives]) await ledger.replicas.beat(beatOf(id, 1));
    await ledger.replicas.leave(left);
    const { now } = await ledger.replicas.list();
    await ledger.engine.write(async (tx) => {
      await tx`UPDATE replica SET seen = ${now - 86_400_001} WHERE id = ${died}`;
      await tx`UPDATE replica SET seen = ${now - 86_000_000} WHERE id = ${recent}`;
    });
    await ledger.replicas.beat(beatOf(lives, 1));
    const { replicas } = await ledger.replicas.list();
    expect(replicas.map(({ id }) => id).sort()).toEqual([recent, lives].sort());
  });

  test('machines that were recorded in the last 15 seconds are live, and are forgotten after a day', async () => {
    const [a, b] = await ledgers.pair();
    const [one, two, silent, gone] = [unique('m'), unique('m'), unique('m'), unique('m')];
    for (const machine of [one, silent, gone]) await a.machines.record(machine);
    const { now } = await a.replicas.list();
    await a.engine.write(async (tx) => {
      await tx`UPDATE meta SET value = ${String(now - 15_001)} WHERE name = ${`machine ${silent}`}`;
      await tx`UPDATE meta SET value = ${String(now - 90_000_000)} WHERE name = ${`machine ${gone}`}`;
    });
    expect(await b.machines.record(two)).toEqual([one, two].sort());
    expect(await b.meta(`machine ${silent}`)).toBeDefined();
    expect(await b.meta(`machine ${gone}`)).toBeUndefined();
  });
});
