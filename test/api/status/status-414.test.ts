import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { getRaw, sendRaw } from '../../support/http/raw.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('414', (engine) => {
  const api = apiOn(engine);
  const target = (length: number) => `/symbols?_=`.padEnd(length, 'x');

  test('a URL of 8 KB is accepted, one character more is a 414 with our envelope', async () => {
    expect((await api.ask(target(8192))).status).toBe(200);
    const message = expectRefusal(await api.ask(target(8193)), 414, 'uri_too_long');
    expect(message).toContain('8193');
    expect(message).toContain('8192');
  });

  test('an unknown path that is too long is a 414 too', async () => {
    expectRefusal(await api.ask(`/${'x'.repeat(9000)}`), 414, 'uri_too_long');
  });

  test('a head over 16 KB is refused by the parser: a bare status, and the connection is closed', async () => {
    const reply = await getRaw(api.service.url, target(17_000));
    expect(reply).toMatch(/^HTTP\/1\.1 431 [^{]*$/);
    const header = `x-filler: ${'x'.repeat(17_000)}\r\n`;
    expect(await getRaw(api.service.url, '/symbols', header)).toMatch(/^HTTP\/1\.1 431 [^{]*$/);
  });

  test('what is not HTTP gets a bare status, and the connection is closed', async () => {
    expect(await sendRaw(api.service.url, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [^{]*$/);
  });
});
