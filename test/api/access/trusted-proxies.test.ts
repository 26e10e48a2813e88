import { expect, test } from 'bun:test';
import { issueKey } from '../../../src/gate/onboarding.ts';
import { type Api, apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const CLIENT = '203.0.113.7';

/** Whether a key restricted to one address is accepted with this forwarding header. */
async function isServed(api: Api, allowed: string, forwardedFor: string): Promise<boolean> {
  const { ledger, clock } = api.service;
  const [account] = await ledger.accounts.list();
  const options = { allowedIps: [allowed] };
  const { text: key } = await issueKey(ledger, account!.id, options, clock.time);
  const reply = await api.ask('/usage', { key, headers: { 'x-forwarded-for': forwardedFor } });
  if (reply.status !== 200) expect(reply.status).toBe(403);
  return reply.status === 200;
}

onEachEngine('without trusted proxies', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_FAILED_KEYS_PER_MINUTE: '2' } });

  test('the forwarding header is ignored', async () => {
    expect(await isServed(api, CLIENT, CLIENT)).toBe(false);
    expect(await isServed(api, '127.0.0.1', CLIENT)).toBe(true);
  });

  test('the limit of failed keys cannot be evaded by claiming other addresses', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) {
      const headers = { 'x-forwarded-for': `203.0.113.${i}` };
      statuses.push((await api.ask('/symbols', { key: 'wrong', headers })).status);
    }
    expect(statuses).toEqual([401, 401, 429, 429]);
  });
});

onEachEngine('behind trusted proxies', (engine) => {
  const api = apiOn(engine, {
    settings: {
      OPENPIT_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, 2001:db8:ffff::/48',
      OPENPIT_FAILED_KEYS_PER_MINUTE: '1',
    },
  });

  test('the client is the address that the proxy saw', async () => {
    expect(await isServed(api, CLIENT, CLIENT)).toBe(true);
    expect(await isServed(api, '127.0.0.1', CLIENT)).toBe(false);
    expect(await isServed(api, '2001:db8::7', '2001:db8::7')).toBe(true);
    expect(await isServed(api, CLIENT, `::ffff:${CLIENT}`)).toBe(true);
  });

  test('the client is the rightmost address that is not a trusted proxy', async () => {
    expect(await isServed(api, CLIENT, `198.51.100.1, ${CLIENT}, 10.1.2.3`)).toBe(true);
    expect(await isServed(api, '198.51.100.1', `198.51.100.1, ${CLIENT}, 10.1.2.3`)).toBe(false);
    expect(await isServed(api, CLIENT, `${CLIENT},10.1.2.3,2001:db8:ffff::5`)).toBe(true);
  });

  test('ports, brackets and empty entries are ignored', async () => {
    expect(await isServed(api, CLIENT, `${CLIENT}:52100`)).toBe(true);
    expect(await isServed(api, '2001:db8::7', '[2001:db8::7]:52100')).toBe(true);
    expect(await isServed(api, '2001:db8::7', '[2001:db8::7]')).toBe(true);
    expect(await isServed(api, CLIENT, `${CLIENT}, , 10.1.2.3:80,`)).toBe(true);
  });

  test('a value that is not an address matches no list', async () => {
    for (const hop of ['unknown', 'localhost', '127.0.0.1.evil.example', '1.2.3']) {
      expect(await isServed(api, '127.0.0.1', hop), hop).toBe(false);
    }
  });

  test('when all are trusted, the first of them is the client', async () => {
    expect(await isServed(api, '10.9.9.9', '10.9.9.9, 10.1.2.3')).toBe(true);
  });

  test('without the header the peer is the client', async () => {
    const { ledger, clock } = api.service;
    const [account] = await ledger.accounts.list();
    const options = { allowedIps: ['127.0.0.1'] };
    const { text: key } = await issueKey(ledger, account!.id, options, clock.time);
    expect((await api.ask('/usage', { key })).status).toBe(200);
  });

  test('failed keys are limited per client, and an IPv6 network counts as one client', async () => {
    const guess = async (address: string) =>
      (await api.ask('/symbols', { key: 'wrong', headers: { 'x-forwarded-for': address } })).status;
    expect([await guess('198.51.100.1'), await guess('198.51.100.1')]).toEqual([401, 429]);
    expect(await guess('198.51.100.2')).toBe(401);
    expect([await guess('2001:db8:0:1::1'), await guess('2001:db8:0:1::2')]).toEqual([401, 429]);
    expect(await guess('2001:0DB8::1:a:b:c:d')).toBe(429); // the same /64, in another notation
    expect(await guess('2001:db8:0:2::1')).toBe(401);
    expect([await guess('2001:db8::1'), await guess('2001:db8::a:b:c:d')]).toEqual([401, 429]);
    expectRefusal(
      await api.ask('/symbols', { key: 'wrong', headers: { 'x-forwarded-for': '198.51.100.1' } }),
      429,
      'rate_limited',
    );
  });
});
