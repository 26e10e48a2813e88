import { expect, test } from 'bun:test';
import { OTHER_KEY_HEADERS } from '../../../src/api/access/api-key.ts';
import { createKey, secureRandom } from '../../../src/gate/key.ts';
import { issueKey } from '../../../src/gate/onboarding.ts';
import { apiOn } from '../../support/api.ts';
import { getRaw } from '../../support/http/raw.ts';
import { onBunServe } from '../../support/http-server.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('secrets', (engine) => {
  const api = apiOn(
    engine,
    { settings: { OPENPIT_FAILED_KEYS_PER_MINUTE: '10000' } },
    async ({ service }) => {
      await service.publish('XAU', { '2024-05-14': 2358.2 });
      await service.publish('XAG', { '2024-05-14': 28.5 });
    },
  );

  /** Every way in which people send a key, on purpose and by mistake. */
  const targetsWith = (key: string) => [
    `/symbols?apiKey=${key}`,
    `/rates/latest?symbols=XAU&apiKey=${key}`,
    `/rates/latest?symbols=NOPE&apiKey=${key}`,
    `/rates/latest&apiKey=${key}`,
    `/rates/latest/apiKey=${key}`,
    `/${key}`,
    `/${key}/rates/latest`,
    `/v1/latest/${key}?symbols=XAU`,
    `/2024-05-14/${key}`,
    `/symbols?apiKey=${key}&apiKey=${key}`,
    `/symbols?x=${'y'.repeat(9000)}&apiKey=${key}`,
    `/rates/latest?symbols=${key}`,
    `/rates/latest?symbols=XAU?apiKey=${key}`,
    `/rates/latest?symbols=XAU,apiKey=${key},${key}`,
    `/v3/rates/latest?symbols=XAU,${key}`,
    `/v3/rates/latest?symbols=XAU,${key}&dryRun=true`,
    `/rates/latest?symbols=,&apiKey=${key}`,
    `/rates/historical?symbols=XAU&date=${key}&apiKey=${key}`,
    `/rates/historical?symbols=XAU&date=2024-05-14?apiKey=${key}`,
    `/rates/historical?symbols=XAU&apiKey=${key}`,
    `/rates/time-series?symbols=XAU&startDate=${key}&endDate=${key}`,
    `/usage?apiKey=${key}`,
    `/usage?apiKey=${key}&apiKey=x`,
    `/health?apiKey=${key}`,
    `/metrics?apiKey=${key}`,
  ];

  test('no key appears in a body, a header, a log line or a metric, wherever it was sent', async () => {
    const { service } = api;
    const { ledger, clock, core } = service;
    const [account] = await ledger.accounts.list();
    const revoked = await issueKey(ledger, account!.id, {}, clock.time);
    const elsewhere = await issueKey(ledger, account!.id, { allowedIps: ['203.0.113.1'] }, clock.time);
    await ledger.keys.revoke(revoked.key.id, clock.time);
    await core.follow();
    const keys = [api.key, createKey(secureRandom), revoked.text, elsewhere.text];
    const seen: string[] = [];
    for (const key of keys) {
      for (const target of targetsWith(key)) {
        seen.push(await getRaw(service.url, target));
        seen.push(await getRaw(service.url, target, `x-api-key: ${key}\r\n`));
      }
      const headers = `x-api-key: ${key}\r\nauthorization: Bearer ${key}\r\nx-forwarded-for: ${key}\r\nreferer: http://x/?apiKey=${key}\r\n`;
      seen.push(await getRaw(service.url, '/metrics', headers));
      seen.push(await getRaw(service.url, '/symbols', `${headers}if-none-match: "${key}"\r\n`));
    }
    // The same during internal errors.
    await ledger.engine.write((tx) => tx.unsafe('ALTER TABLE bar RENAME TO hidden'));
    const broken = await getRaw(
      service.url,
      `/rates/historical?symbols=XAG&date=2024-05-14&apiKey=${api.key}`,
    );
    await ledger.engine.write((tx) => tx.unsafe('ALTER TABLE hidden RENAME TO bar'));
    expect(broken).toStartWith('HTTP/1.1 500 ');
    seen.push(broken, await getRaw(service.url, '/metrics'), ...service.logLines);

    expect(service.logLines.length).toBeGreaterThan(100); // every request is logged here
    const everything = seen.join('\n').toLowerCase();
    for (const key of keys) {
      expect(everything).not.toContain(key.toLowerCase());
      // No part of the key that is long enough to identify it either.
      const secret = key.slice('pit_live_'.length).toLowerCase();
      for (let i = 0; i + 8 <= secret.length; i++) expect(everything).not.toContain(secret.slice(i, i + 8));
    }
  });

  test('a key of another service, sent as ours, is not echoed either', async () => {
    const secret = 'sk-Another-Service-0123456789';
    const replies = [
      await api.ask(`/symbols?apiKey=${secret}`, { key: '' }),
      await api.ask('/usage', { key: secret }),
      await api.ask(`/rates/latest?apiKey=${secret}`),
    ];
    expect(replies.map((reply) => reply.status)).toEqual([401, 401, 400]);
    for (const { text } of replies) expect(text).not.toContain(secret);
    expect(api.service.logLines.join('')).not.toContain(secret);
  });

  test('a message that echoes a URL abbreviates the key in it', async () => {
    const { text } = await api.ask(`/rates/latest&apiKey=${api.key}`);
    expect(text).toContain('/rates/latest&apiKey=pit_live_…');
  });

  test('the ledger stores only the hash of a key', async () => {
    const rows = await api.service.ledger.engine.read`SELECT * FROM api_key`;
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain('pit_live_');
  });

  test('a page opened with a key in its URL sends no referrer', async () => {
    for (const path of ['/symbols', '/nowhere', '/usage', '/health']) {
      expect((await api.ask(path)).headers.get('referrer-policy'), path).toBe('no-referrer');
    }
  });

  test.skipIf(onBunServe)(
    'header lines are cached without the key, wherever the client sent it',
    async () => {
      const key = await api.service.key();
      const entries = async () => {
        const { text } = await api.ask('/metrics', { key: '' });
        return Number(/^openpit_cache_entries\{cache="header_lines"\} (\d+)$/m.exec(text)?.[1]);
      };
      /** How many entries three equal requests add. Each has its own connection, so that it is parsed. */
      const added = async (headers: Record<string, string>) => {
        const before = await entries();
        for (let i = 0; i < 3; i++) {
          const init = { headers: { ...headers, connection: 'close' } };
          expect((await fetch(`${api.service.url}/rates/latest?symbols=XAU`, init)).status).toBe(200);
        }
        return (await entries()) - before;
      };
      for (const name of OTHER_KEY_HEADERS) expect([name, await added({ [name]: key })]).toEqual([name, 0]);
      expect(await added({ 'x-api-key': key, accept: 'application/json' })).toBe(1);
    },
  );
});
