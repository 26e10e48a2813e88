import { expect, test } from 'bun:test';
import { apiOn, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('uses of keys', (engine) => {
  const api = apiOn(engine, {}, ({ service }) => service.publish('XAU', { '2024-05-14': 2358 }));

  test('each key has its units by day and endpoint, and its last use; errors are no use', async () => {
    const made = await api.ask('/account/keys', { method: 'POST', body: '{"name":"backend"}' });
    const [key, { id }] = [String(made.body.apiKey), made.body.key as { id: string }];
    await api.ask('/rates/latest?symbols=XAU', { key });
    await api.ask('/rates/latest?symbols=XAU', { key });
    await api.ask('/rates/latest?symbols=NOPE', { key });
    await api.ask('/symbols');
    await api.service.core.keyUses.flush();
    const { byKey } = (await api.ask('/usage/daily')).body as { byKey: Json[] };
    const date = new Date(api.service.clock.now()).toISOString().slice(0, 10);
    expect(byKey.find((use) => use.key === id)).toEqual({
      date,
      key: id,
      endpoint: 'latest',
      count: 2,
    });
    expect(byKey.filter((use) => use.endpoint === 'symbols')).toHaveLength(1);
    const { keys } = (await api.ask('/account/keys')).body as { keys: Json[] };
    const lastUsedAt = Math.floor(api.service.clock.now() / 1000);
    expect(keys.find((one) => one.id === id)).toMatchObject({ name: 'backend', lastUsedAt });
  });

  test('writing the uses of many keys lets requests in between', async () => {
    const use = { accountId: 'one', day: 20_000, endpoint: 'latest', count: 1, lastAt: 0 };
    const uses = Array.from({ length: 1_000 }, (_, i) => ({ ...use, keyId: `key_${i}` }));
    let [turns, isDone] = [0, false];
    const countTurns = () => {
      turns++;
      if (!isDone) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    await api.service.core.ledger.keyUses.add(uses);
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(4); // five transactions
    expect(await api.service.core.ledger.keyUses.of('one', 20_000)).toHaveLength(1_000);
  });

  test('a key that was never used has no last use, and counts of two flushes add up', async () => {
    const made = await api.ask('/account/keys', { method: 'POST', body: '{}' });
    const { id } = made.body.key as { id: string };
    const lastUse = async () =>
      ((await api.ask('/account/keys')).body.keys as Json[]).find((one) => one.id === id)!.lastUsedAt;
    expect(await lastUse()).toBeNull();
    for (let i = 0; i < 2; i++) {
      await api.ask('/symbols', { key: String(made.body.apiKey) });
      await api.service.core.keyUses.flush();
    }
    const { byKey } = (await api.ask('/usage/daily')).body as { byKey: Json[] };
    expect(byKey.find((use) => use.key === id)).toMatchObject({ endpoint: 'symbols', count: 2 });
  });

  test('uses of a key before and after it was changed add up', async () => {
    const made = await api.ask('/account/keys', { method: 'POST', body: '{}' });
    const [key, { id }] = [String(made.body.apiKey), made.body.key as { id: string }];
    await api.ask('/symbols', { key });
    await api.ask(`/account/keys/${id}`, { method: 'PATCH', body: '{"name":"renamed"}' });
    await api.service.core.follow();
    await api.ask('/symbols', { key });
    await api.service.core.keyUses.flush();
    const { byKey } = (await api.ask('/usage/daily')).body as { byKey: Json[] };
    expect(byKey.find((use) => use.key === id)).toMatchObject({ endpoint: 'symbols', count: 2 });
  });
});
