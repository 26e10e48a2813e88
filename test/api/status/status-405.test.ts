import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('405', (engine) => {
  const api = apiOn(engine);

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    test(`${method} is not allowed on any path of the interface, and Allow says what is`, async () => {
      for (const path of ['/symbols', '/v1/rates/latest', '/rates/historical/', '/rates/time-series']) {
        const reply = await api.ask(path, { method });
        expect(expectRefusal(reply, 405, 'method_not_allowed')).toContain(method);
        expect(reply.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      }
    });
  }

  test('methods that browsers do not send are refused the same way', async () => {
    for (const method of ['TRACE', 'CONNECT', 'PROPFIND', 'PURGE']) {
      const request = `${method} /symbols HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`;
      const reply = await sendRaw(api.service.url, request);
      expect(reply).toStartWith('HTTP/1.1 405 ');
      expect(reply).toContain('"code":"method_not_allowed"');
    }
  });

  test('the methods in Allow are accepted, health and metrics included', async () => {
    for (const path of ['/symbols', '/usage', '/health', '/metrics']) {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        expect((await api.ask(path, { method })).status, `${method} ${path}`).toBeLessThan(300);
      }
    }
    expectRefusal(await api.ask('/health', { method: 'POST' }), 405, 'method_not_allowed');
  });

  test('a GET with a content type, and even with a body, is answered', async () => {
    const headers = { 'content-type': 'application/json' };
    expect((await api.ask('/symbols', { headers })).status).toBe(200);
    const request = `GET /usage HTTP/1.1\r\nHost: test\r\nConnection: close\r\nx-api-key: ${api.key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    expect(await sendRaw(api.service.url, request)).toStartWith('HTTP/1.1 200 ');
  });
});
