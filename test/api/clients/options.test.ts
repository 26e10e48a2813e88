import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { onBunServe } from '../../support/http-server.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('OPTIONS', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_ADMIN_TOKEN: 'a-long-token-of-the-operator' } });
  const send = (method: string, target: string) =>
    sendRaw(api.service.url, `${method} ${target} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`);

  test.skipIf(onBunServe)(
    'OPTIONS * is answered for the server as a whole, without a key and without a body',
    async () => {
      const reply = await send('OPTIONS', '*');
      expect(reply).toStartWith('HTTP/1.1 204 ');
      expect(reply).toContain('\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n');
      expect(reply).toEndWith('\r\n\r\n');
    },
  );

  test('no other method is accepted for *', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE'])
      expect(await send(method, '*')).toStartWith('HTTP/1.1 400 ');
  });

  test.each([
    ['/v1/account/keys', 'GET, HEAD, POST, OPTIONS'],
    ['/admin/plans/gold', 'PUT, DELETE, OPTIONS'],
    ['/admin/ticks', 'POST, OPTIONS'],
  ])('Allow says what %s takes, and a page from elsewhere may only read', async (path, allowed) => {
    const { status, headers } = await api.ask(path, { key: '', method: 'OPTIONS' });
    expect(status).toBe(204);
    expect(headers.get('allow')).toBe(allowed);
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
  });

  test('Allow says that rates can only be read', async () => {
    const { headers } = await api.ask('/rates/latest', { key: '', method: 'OPTIONS' });
    expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});
