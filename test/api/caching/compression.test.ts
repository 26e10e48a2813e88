import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('compression', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    const days = Array.from({ length: 28 }, (_, i) => `2024-04-${String(i + 1).padStart(2, '0')}`);
    await service.publish('XAU', Object.fromEntries(days.map((day, i) => [day, 2300 + i])));
  });
  const LONG = '/rates/time-series?symbols=XAU&startDate=2024-04-01&endDate=2024-04-28';
  const SHORT = '/rates/latest?symbols=XAU';
  const ask = (path: string, encoding: string) => api.ask(path, { headers: { 'accept-encoding': encoding } });

  for (const accepted of [
    'gzip',
    'deflate, gzip;q=0.5',
    'x-gzip',
    '*',
    'GZIP',
    'br, gzip',
    'identity;q=0.5, gzip',
  ]) {
    test(`a long body is compressed for "${accepted}" and says the same`, async () => {
      const plain = await ask(LONG, 'identity');
      const packed = await ask(LONG, accepted);
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(packed.headers.get('content-encoding')).toBe('gzip');
      expect(packed.text).toBe(plain.text);
      const sent = Number(packed.headers.get('content-length'));
      expect(sent).toBeGreaterThan(0);
      expect(sent).toBeLessThan(plain.text.length / 3);
    });
  }

  for (const refused of [
    'identity',
    'br',
    'gzip;q=0',
    '*;q=0',
    'deflate',
    'gzip; q=0.0, *',
    'identity, gzip;q=0.5',
  ]) {
    test(`it is not compressed for "${refused}"`, async () => {
      expect((await ask(LONG, refused)).headers.get('content-encoding')).toBeNull();
    });
  }

  test('a body up to 1 KB is not compressed', async () => {
    expect((await ask(SHORT, 'gzip')).headers.get('content-encoding')).toBeNull();
  });

  test('the limit is 1024 bytes: one byte more is compressed', async () => {
    // A 404 echoes up to 100 characters of the path; symbols fill the rest.
    const path = (codes: number, last: number) =>
      `/rates/latest?symbols=${'Q'.repeat(last)}${Array.from({ length: codes }, (_, i) => `,${i}${'Q'.repeat(40)}`).join('')}`;
    const sizeOf = async (last: number) => Buffer.byteLength((await ask(path(20, last), 'identity')).text);
    const base = await sizeOf(20);
    const last = 20 + 1024 - base;
    expect(last).toBeGreaterThan(0);
    expect(last).toBeLessThanOrEqual(63);
    expect(await sizeOf(last)).toBe(1024);
    expect((await ask(path(20, last), 'gzip')).headers.get('content-encoding')).toBeNull();
    expect((await ask(path(20, last + 1), 'gzip')).headers.get('content-encoding')).toBe('gzip');
  });
});
