import { afterAll, afterEach, expect, test } from 'bun:test';
import { hashKey } from '../../src/gate/key.ts';
import { rotateKey } from '../../src/gate/onboarding.ts';
import { apiOn, expectRefusal, type Json, type Reply, readReply } from '../support/api.ts';
import { EventReader } from '../support/http/events.ts';
import { onEachEngine } from '../support/ledger.ts';
import { OPERATOR_SETTINGS, operatorOf } from '../support/operator.ts';
import { eventually } from '../support/program.ts';
import { MINUTE, openTestService, type TestService } from '../support/service.ts';

const MAX = 100;

onEachEngine('concurrent requests', (engine) => {
  const settings = OPERATOR_SETTINGS;
  const api = apiOn(engine, { settings }, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358 });
    await service.setPlan({ name: 'spent', quota: 0 });
  });
  let replica: TestService | undefined;
  const opened: EventReader[] = [];
  afterEach(async () => {
    for (const reader of opened.splice(0)) await reader.close();
  });
  afterAll(() => replica?.close());

  const count = (replies: readonly { status: number }[], status: number) =>
    replies.filter((reply) => reply.status === status).length;
  const send = (method: string, path: string, key: string, body: unknown = {}): Promise<Reply> =>
    api.ask(path, { method, key, ...(method !== 'DELETE' && { body: JSON.stringify(body) }) });
  const operate = operatorOf(api);
  const keysOf = async (key: string) => (await api.ask('/account/keys', { key })).body.keys as Json[];

  test('an account never exceeds its number of keys, even across two replicas', async () => {
    replica ??= await openTestService(engine, { settings, ledgerUrl: api.service.ledgerUrl });
    const second = replica;
    const key = await api.service.key();
    const create = async (service: TestService) => {
      const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
      return readReply(await service.get('/account/keys', key, init));
    };
    const replies = await Promise.all(
      Array.from({ length: 150 }, (_, i) => create(i % 2 === 0 ? api.service : second)),
    );
    expect([count(replies, 200), count(replies, 409)]).toEqual([MAX - 1, 150 - (MAX - 1)]);
    expect(await keysOf(key)).toHaveLength(MAX);
  });

  test('rotations count as new keys', async () => {
    const key = await api.service.key();
    const [own] = await keysOf(key);
    const replies = await Promise.all(
      Array.from({ length: 150 }, () => send('POST', `/account/keys/${own!.id}/rotate`, key)),
    );
    expect([count(replies, 200), count(replies, 409)]).toEqual([MAX - 1, 150 - (MAX - 1)]);
    expect(await keysOf(key)).toHaveLength(MAX);
  });

  /** Operations of a key that is revoked, or whose account is suspended, after it was admitted. */
  const late = [
    ['creates a key', (key: string) => send('POST', '/account/keys', key)],
    ['rotates itself', (key: string, own: string) => send('POST', `/account/keys/${own}/rotate`, key)],
    [
      'revokes another',
      (key: string, _: string, other: string) => send('DELETE', `/account/keys/${other}`, key),
    ],
  ] as const;
  for (const [what, act] of late) {
    test(`a key revoked while its request is in progress no longer ${what}`, async () => {
      const { accounts, keys } = api.service.ledger;
      const key = await api.service.key();
      const other = (await send('POST', '/account/keys', key)).body.key as Json;
      const { id: own } = (await accounts.byKeyHash(hashKey(key)))!.key;
      await keys.revoke(own, api.service.clock.time); // this process has not followed it yet
      const reply = await act(key, own, String(other.id));
      expect([401, 409]).toContain(reply.status);
      const { accountId } = (await keys.find(own))!;
      const active = (await keys.of(accountId)).filter(({ revokedAt }) => revokedAt === null);
      expect(active.map(({ id }) => id)).toEqual([String(other.id)]);
    });

    test(`a key whose account is suspended while its request is in progress no longer ${what}`, async () => {
      const { accounts, keys } = api.service.ledger;
      const key = await api.service.key();
      const other = (await send('POST', '/account/keys', key)).body.key as Json;
      const { key: own, account } = (await accounts.byKeyHash(hashKey(key)))!;
      await accounts.update(account.id, { status: 'suspended' });
      expectRefusal(await act(key, own.id, String(other.id)), 403, 'account_suspended');
      const active = (await keys.of(account.id)).filter(({ revokedAt }) => revokedAt === null);
      expect(active).toHaveLength(2);
    });
  }

  test('the operator cannot rotate a key that is revoked at the same time either', async () => {
    const { ledger, clock } = api.service;
    const found = (await ledger.accounts.byKeyHash(hashKey(await api.service.key())))!.key;
    await ledger.keys.revoke(found.id, clock.time);
    const rotating = rotateKey(ledger, found, 0, clock.time);
    await expect(rotating).rejects.toThrow('revoked or has expired');
    expect(await ledger.keys.of(found.accountId)).toHaveLength(1);
  });

  test('a key that is rotated twice at the same time gets no successor that outlives it', async () => {
    const { ledger, clock } = api.service;
    const found = (await ledger.accounts.byKeyHash(hashKey(await api.service.key())))!.key;
    await rotateKey(ledger, found, MINUTE, clock.time);
    const { key: second } = await rotateKey(ledger, found, MINUTE, clock.time);
    expect(second.expiresAt).toBe(clock.time + MINUTE);
    expect(await ledger.keys.find(second.id)).toEqual(second);
  });

  /** What only an unrestricted key may do. */
  const unrestricted: [string, (own: string, other: string) => [string, string, Json?]][] = [
    ['creates an unrestricted one', () => ['POST', '']],
    ['lifts restrictions', (_, other) => ['PATCH', `/${other}`, { headerOnly: false }]],
    ['lifts its own restrictions', (own) => ['PATCH', `/${own}`, { headerOnly: false }]],
    ['rotates another', (_, other) => ['POST', `/${other}/rotate`]],
  ];
  for (const [what, act] of unrestricted) {
    test(`a key that is restricted while its request is in progress no longer ${what}`, async () => {
      const { accounts, keys } = api.service.ledger;
      const key = await api.service.key();
      const other = (await send('POST', '/account/keys', key)).body.key as Json;
      const { id: own, accountId } = (await accounts.byKeyHash(hashKey(key)))!.key;
      await keys.update(own, { headerOnly: true }); // this process has not followed it yet
      const before = await keys.of(accountId);
      const [method, path, body] = act(own, String(other.id));
      const reply = await send(method, `/account/keys${path}`, key, body);
      expect(expectRefusal(reply, 409, 'conflict')).toContain('have changed meanwhile');
      expect(await keys.of(accountId)).toEqual(before);
    });
  }

  test('either accounts are created on a plan or the plan is deleted, without internal errors', async () => {
    for (let round = 0; round < 10; round++) {
      const name = `brief${round}`;
      await operate('PUT', `/admin/plans/${name}`, {});
      const create = () => operate('POST', '/admin/accounts', { name: 'Test', plan: name });
      const [first, deletion, second] = await Promise.all([
        create(),
        operate('DELETE', `/admin/plans/${name}`),
        create(),
      ]);
      const created = count([first, second], 200);
      expect(deletion.status, deletion.text).toBe(created > 0 ? 409 : 200);
      expect(count([first, second], 404)).toBe(2 - created);
    }
  });

  test('two changes of a plan do not overwrite each other', async () => {
    await operate('PUT', '/admin/plans/shared', {});
    const changes = { quota: 7, delaySeconds: 11, maxSymbols: 13, maxSpanDays: 17, burstPerSecond: 19 };
    await Promise.all(
      Object.entries(changes).map(([name, value]) =>
        operate('PUT', '/admin/plans/shared', { [name]: value }),
      ),
    );
    const plans = (await operate('GET', '/admin/plans')).body.plans as Json[];
    expect(plans.find(({ name }) => name === 'shared')).toMatchObject(changes);
  });

  const stream = async (key: string) => {
    const reader = await EventReader.open(`${api.service.url}/rates/stream?symbols=XAU`, {
      'x-api-key': key,
    });
    opened.push(reader);
    return reader.response;
  };

  test('an account never exceeds its number of streams, and can reopen those it closes', async () => {
    const key = await api.service.key();
    const responses = await Promise.all(Array.from({ length: 150 }, () => stream(key)));
    expect([count(responses, 200), count(responses, 429)]).toEqual([MAX, 50]);
    for (const reader of opened.splice(0)) await reader.close();
    await eventually(async () => (await stream(key)).status === 200);
    const again = await Promise.all(Array.from({ length: 120 }, () => stream(key)));
    expect(count(again, 200)).toBeLessThanOrEqual(MAX - 1);
  });

  test('a stream refused for its quota takes no slot', async () => {
    const key = await api.service.key('spent');
    for (let i = 0; i < MAX + 5; i++) {
      const reply = await api.ask('/rates/stream?symbols=XAU', { key });
      expectRefusal(reply, 429, 'quota_exhausted');
    }
  });
});
