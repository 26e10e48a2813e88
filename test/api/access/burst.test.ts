import { expect, test } from 'bun:test';
import { createKey, secureRandom } from '../../../src/gate/key.ts';
import { createAccount, issueKey } from '../../../src/gate/onboarding.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('the burst limit', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.setPlan({ name: 'three', burstPerSecond: 3 });
  });
  const statuses = async (key: string, count: number, path = '/usage') => {
    const replies = await Promise.all(Array.from({ length: count }, () => api.ask(path, { key })));
    return replies.map((reply) => reply.status).sort();
  };

  test('allows exactly the plan’s requests per second, even if they arrive at once', async () => {
    const key = await api.service.key('three');
    expect(await statuses(key, 20)).toEqual([200, 200, 200, ...new Array<number>(17).fill(429)]);
    api.service.clock.time += 999;
    expect(await statuses(key, 2)).toEqual([429, 429]);
    api.service.clock.time += 1;
    expect(await statuses(key, 5)).toEqual([200, 200, 200, 429, 429]);
  });

  test('a refusal has the limit, when to retry, and what is left of the month', async () => {
    const key = await api.service.key('three');
    await statuses(key, 3);
    const reply = await api.ask('/symbols', { key });
    const message = expectRefusal(reply, 429, 'rate_limited');
    expect(message).toContain('3 a second');
    expect(reply.headers.get('retry-after')).toBe('1');
    expect(reply.headers.get('ratelimit')).toStartWith('"month";r=1000;');
  });

  test('errors count, and the limit comes before the parameters', async () => {
    const key = await api.service.key('three');
    expect(await statuses(key, 3, '/rates/latest')).toEqual([400, 400, 400]);
    expect(await statuses(key, 2, '/rates/latest')).toEqual([429, 429]);
  });

  test('the keys of an account share it, other accounts do not', async () => {
    const { ledger, clock } = api.service;
    const { account, issued } = await createAccount(ledger, { name: 'Two keys', plan: 'three' }, clock.time);
    const second = await issueKey(ledger, account.id, {}, clock.time);
    expect(await statuses(issued.text, 2)).toEqual([200, 200]);
    expect(await statuses(second.text, 2)).toEqual([200, 429]);
    expect(await statuses(await api.service.key('three'), 3)).toEqual([200, 200, 200]);
  });

  test('preflights, unknown paths and health are exempt', async () => {
    const key = await api.service.key('three');
    for (let i = 0; i < 5; i++) {
      await api.ask('/symbols', { key, method: 'OPTIONS' });
      await api.ask('/nowhere', { key });
      await api.ask('/health', { key });
    }
    expect(await statuses(key, 3)).toEqual([200, 200, 200]);
  });
});

onEachEngine('failed keys', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_FAILED_KEYS_PER_MINUTE: '3' } });
  const guess = (key = 'wrong') => api.ask('/symbols', { key });

  test('an address has a limited number of failures per minute, and must then wait', async () => {
    for (let i = 0; i < 3; i++) expectRefusal(await guess(`wrong${i}`), 401, 'invalid_key');
    const reply = await guess();
    expectRefusal(reply, 429, 'rate_limited');
    expect(reply.headers.get('retry-after')).toBe('60');
    expect(reply.headers.get('ratelimit')).toBeNull();
    api.service.clock.time += 60_000;
    expectRefusal(await guess(), 401, 'invalid_key');
  });

  test('Retry-After counts down to the end of the minute, and further guesses do not extend it', async () => {
    api.service.clock.time += 60_000;
    for (let i = 0; i < 3; i++) await guess();
    const waits: (string | null)[] = [];
    for (const ms of [0, 20_000, 39_500, 400]) {
      api.service.clock.time += ms;
      waits.push((await guess()).headers.get('retry-after'));
    }
    expect(waits).toEqual(['60', '40', '1', '1']);
    api.service.clock.time += 100;
    expectRefusal(await guess(), 401, 'invalid_key');
  });

  test('a valid key passes on its first use, even during an attack from its address', async () => {
    api.service.clock.time += 60_000;
    const attack = (count: number) =>
      Promise.all(Array.from({ length: count }, () => guess(createKey(secureRandom))));
    const fresh = [await api.service.key(), await api.service.key(), await api.service.key()];
    const [before, served, after] = await Promise.all([
      attack(50),
      Promise.all(fresh.map((key) => guess(key))),
      attack(50),
    ]);
    expect(served.map(({ status }) => status)).toEqual([200, 200, 200]);
    const statuses = [...before, ...after].map(({ status }) => status).sort();
    expect(statuses).toEqual([401, 401, 401, ...new Array<number>(97).fill(429)]);
    expect((await guess(await api.service.key())).status).toBe(200);
  });

  test('a key created after the limit was reached passes, and wrong keys are still refused', async () => {
    api.service.clock.time += 60_000;
    for (let i = 0; i < 4; i++) await guess(createKey(secureRandom));
    expect((await guess(createKey(secureRandom))).status).toBe(429);
    expect((await guess(await api.service.key())).status).toBe(200);
    expect((await guess(createKey(secureRandom))).status).toBe(429);
  });

  test('a key in use keeps working, and requests without a key do not count as failures', async () => {
    api.service.clock.time += 60_000;
    expect((await guess(api.key)).status).toBe(200);
    for (let i = 0; i < 5; i++) await api.ask('/symbols', { key: '' });
    expectRefusal(await guess(), 401, 'invalid_key');
    for (let i = 0; i < 5; i++) await guess();
    expect((await guess()).status).toBe(429);
    expect((await guess(api.key)).status).toBe(200);
  });
});
