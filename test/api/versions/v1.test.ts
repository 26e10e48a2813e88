import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { askFor, ERRORS, publishPrices, SUNDAY, spanOf } from './generations.ts';

for (const mount of ['', '/v1']) {
  onEachEngine(`the interface under ${mount || '/'}`, (engine) => {
    const api = apiOn(engine, {}, publishPrices);

    test('a time series spans 30 days', async () => {
      expect((await api.ask(mount + spanOf(30))).status).toBe(200);
      const message = expectRefusal(await api.ask(mount + spanOf(31)), 400, 'range_too_long');
      expect(message).toContain('31 days and the limit is 30 days');
      expect(message).toContain('/rates/history');
    });

    test('a historical record has open, high, low and close', async () => {
      const { text } = await api.ask(`${mount}${SUNDAY}&metadata=false`);
      expect(text).toBe(
        '{"success":true,"date":"2024-05-12","rates":{"XAU":{"open":2346,"high":2360,"low":2340,"close":2350}}}',
      );
    });

    test('latest has its metadata once', async () => {
      const { body } = await api.ask(`${mount}/rates/latest?symbols=XAU`);
      expect(Object.keys(body)).toEqual(['success', 'timestamp', 'rates', 'metadata']);
    });

    test('one unknown symbol fails the request', async () => {
      expectRefusal(await api.ask(`${mount}/rates/latest?symbols=XAU,NOPE`), 404, 'unknown_symbol');
    });

    test('errors are the envelope alone, and those of usage have their text in error', async () => {
      for (const [path, status, code] of ERRORS) {
        expectRefusal(await askFor(api, mount + path), status, code);
      }
      const { text, body } = await api.ask(`${mount}/usage`, { key: 'wrong' });
      expect(text).toBe(JSON.stringify({ success: false, error: body.error }));
    });

    test('the account names the span that applies here', async () => {
      expect((await api.ask(`${mount}/account`)).body.plan).toMatchObject({ maxSpanDays: 30 });
    });
  });
}
