import { expect, test } from 'bun:test';
import { readQuery } from '../../src/api/model/query.ts';
import { nextLink } from '../../src/api/params/cursor.ts';
import { apiOn, expectRefusal } from '../support/api.ts';
import { getRaw, sendRaw } from '../support/http/raw.ts';
import { onEachEngine } from '../support/ledger.ts';

const LINES = '%0d%0aX-Injected:%201%0d%0a%0d%0a';

onEachEngine('client input is never interpreted', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    const days = Object.fromEntries(
      Array.from({ length: 28 }, (_, i) => [`2024-02-${String(i + 1).padStart(2, '0')}`, 2000 + i]),
    );
    await service.publish('XAU', days);
  });

  test('line breaks in a parameter never create a header, in any format', async () => {
    const range = 'startDate=2024-02-01&endDate=2024-02-28';
    for (const target of [
      `/rates/latest?symbols=XAU${LINES}`,
      `/rates/latest?symbols=XAU&quote=EUR${LINES}`,
      `/rates/latest?symbols=XAU&unit=kg${LINES}`,
      `/rates/latest?symbols=XAU&format=csv${LINES}`,
      `/rates/history?symbols=XAU&${range}&interval=day&limit=2&x=${LINES}`,
      `/rates/history?symbols=XAU&${range}&cursor=${LINES}`,
      `/account/keys/key${LINES}`,
      `/${LINES}`,
      `/console/assets/x${LINES}`,
    ]) {
      const reply = await getRaw(api.service.url, target, `x-api-key: ${api.key}\r\n`);
      expect(reply, target).toMatch(/^HTTP\/1\.1 [245]0[0-5] /);
      expect(reply.slice(0, reply.indexOf('\r\n\r\n')), target).not.toMatch(/^x-injected/im);
    }
  });

  test('a malformed request id is replaced by ours', async () => {
    const reply = await api.ask('/usage', { headers: { 'x-request-id': 'mine","level":"error' } });
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-z]+-[0-9a-z]{8}$/);
    expect(api.service.logLines.join('')).not.toContain('mine');
  });

  test('a log line is one line of JSON, whatever the request', async () => {
    await getRaw(api.service.url, `/${LINES}%22%7D?x=${LINES}`, `user-agent: "}\\n{"level":"error"}\r\n`);
    for (const line of api.service.logLines) {
      expect(line.trimEnd()).not.toContain('\n');
      expect(JSON.parse(line).level).not.toBe('error');
    }
  });

  test('a path cannot escape its folder', async () => {
    for (const target of [
      '/console/assets/..%2f..%2f..%2fpackage.json',
      '/console/assets/%2e%2e/%2e%2e/package.json',
      '/console/assets/..%5c..%5cpackage.json',
      '/console/assets/..%2fstart.js/../../../etc/passwd',
      '/console/assets/%2fetc%2fpasswd',
      '/docs/assets/%2fetc%2fpasswd',
      '/console/assets/__proto__',
      '/console/assets/file:%2f%2f%2fetc%2fpasswd',
      '//etc/passwd',
      '/admin/../admin/accounts',
    ]) {
      const reply = await getRaw(api.service.url, target);
      expect(reply, target).toStartWith('HTTP/1.1 404 ');
      expect(reply, target).not.toMatch(/root:|"devDependencies"/);
    }
  });

  test('the Host header changes no path, response or link', async () => {
    const ask = (host: string) =>
      sendRaw(
        api.service.url,
        `GET /rates/latest?symbols=XAU HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nx-api-key: ${api.key}\r\n\r\n`,
      );
    const body = (reply: string) => reply.slice(reply.indexOf('\r\n\r\n'));
    const plain = body(await ask('test'));
    for (const host of ['evil/usage?x=', 'a b', 'user@evil']) {
      expect(await ask(host), host).toStartWith('HTTP/1.1 400 ');
    }
    for (const host of ['evil.example', '[::1]', 'x:99999', '']) {
      const reply = await ask(host);
      expect(body(reply), host).toBe(plain);
      expect(reply).not.toContain('evil');
    }
  });

  test('a link to the next page contains no key, under whatever name it was sent', () => {
    const query = readQuery(`symbols=XAU&key=${api.key}&apiKey=${api.key}&${api.key}=1`);
    const link = nextLink(query, 'abc');
    expect(link).toStartWith('<?symbols=XAU&');
    expect(link).not.toContain(api.key.slice(9));
  });

  test('Unicode look-alikes of a symbol or a key do not match', async () => {
    for (const code of ['ＸＡＵ', 'XАU', 'X\u200bAU', 'XAU\u0301'])
      expectRefusal(
        await api.ask(`/rates/latest?symbols=${encodeURIComponent(code)}`),
        404,
        'unknown_symbol',
      );
    const wide = api.key.replace('pit_live', 'ｐｉｔ_live');
    expectRefusal(
      await api.ask(`/symbols?apiKey=${encodeURIComponent(wide)}`, { key: '' }),
      401,
      'invalid_key',
    );
  });
});
