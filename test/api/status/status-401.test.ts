import { expect, test } from 'bun:test';
import { createKey, secureRandom } from '../../../src/gate/key.ts';
import { issueKey } from '../../../src/gate/onboarding.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE } from '../../support/service.ts';

const PATHS = [
  '/symbols',
  '/rates/latest?symbols=XAU',
  '/rates/historical?symbols=XAU&date=2024-05-14',
  '/rates/time-series?symbols=XAU&startDate=2024-05-01&endDate=2024-05-14',
  '/rates/fluctuation?symbols=XAU&startDate=2024-05-01&endDate=2024-05-14',
];

onEachEngine('401', (engine) => {
  const api = apiOn(engine);

  for (const path of PATHS) {
    test(`${path} without a key is missing_key, and says how to send one`, async () => {
      const reply = await api.ask(path, { key: '' });
      const message = expectRefusal(reply, 401, 'missing_key');
      expect(message).toContain('x-api-key');
      expect(message).toContain('apiKey');
      expect(reply.headers.get('www-authenticate')).toBe('ApiKey realm="openpit"');
    });
  }

  test('an empty key counts as missing, in the header and in the URL', async () => {
    expectRefusal(await api.ask('/symbols', { key: '   ' }), 401, 'missing_key');
    expectRefusal(await api.ask('/symbols?apiKey=', { key: '' }), 401, 'missing_key');
    expectRefusal(await api.ask('/symbols?apiKey=%20+', { key: '' }), 401, 'missing_key');
  });

  test('unknown, malformed, expired and revoked keys get the same body and challenge', async () => {
    const { service } = api;
    const { ledger, clock } = service;
    const [account] = await ledger.accounts.list();
    const issue = (options: { expiresAt?: number }) => issueKey(ledger, account!.id, options, clock.time);
    const expired = await issue({ expiresAt: clock.time + MINUTE });
    const revoked = await issue({});
    expect((await api.ask('/symbols', { key: expired.text })).status).toBe(200);
    expect((await api.ask('/symbols', { key: revoked.text })).status).toBe(200);
    clock.time += MINUTE;
    await ledger.keys.revoke(revoked.key.id, clock.time);
    await service.core.follow();

    const keys = ['wrong', createKey(secureRandom), `${api.key.slice(0, -1)}!`, expired.text, revoked.text];
    const replies = await Promise.all(keys.map((key) => api.ask('/symbols', { key })));
    for (const reply of replies) {
      expectRefusal(reply, 401, 'invalid_key');
      expect(reply.text).toBe(replies[0]!.text);
      expect(reply.headers.get('www-authenticate')).toBe('ApiKey realm="openpit"');
      expect(reply.headers.get('ratelimit')).toBeNull();
    }
  });

  test('the key is checked before the parameters, and after path and method', async () => {
    expectRefusal(await api.ask('/rates/latest', { key: 'wrong' }), 401, 'invalid_key');
    expectRefusal(await api.ask('/rates/nothing', { key: 'wrong' }), 404, 'not_found');
    expectRefusal(
      await api.ask('/rates/latest', { key: 'wrong', method: 'POST' }),
      405,
      'method_not_allowed',
    );
  });
});
