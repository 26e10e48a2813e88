import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { createKey, secureRandom } from '../../src/gate/key.ts';
import { openTestService, type TestService } from '../support/service.ts';
import { inBrowser } from './in-browser.ts';

const RANGE = 'startDate=2024-05-13&endDate=2024-05-14';
const ENDPOINTS = [
  '/symbols',
  '/rates/latest?symbols=XAU',
  '/rates/historical?symbols=XAU&date=2024-05-14',
  `/rates/time-series?symbols=XAU&${RANGE}`,
  `/rates/fluctuation?symbols=XAU&${RANGE}`,
  `/rates/history?symbols=XAU&${RANGE}`,
  '/rates/revisions?symbols=XAU&date=2024-05-14',
  '/usage',
  '/account',
  '/units?symbols=XAU',
  '/feeds',
];

/** What a page can read of a response. */
interface Seen {
  status: number;
  body: Record<string, unknown>;
  error?: string;
}

inBrowser('a page of another site', (browser) => {
  let page: Page;
  let service: TestService;
  let site: ReturnType<typeof Bun.serve>;
  let key = '';

  beforeAll(async () => {
    service = await openTestService('sqlite');
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    key = await service.key();
    const html = '<!doctype html><title>Another site</title>';
    site = Bun.serve({
      port: 0,
      fetch: () => new Response(html, { headers: { 'content-type': 'text/html' } }),
    });
    page = await (await browser()).newPage();
    await page.goto(`http://127.0.0.1:${site.port}/`);
  });
  afterAll(async () => {
    await site?.stop(true);
    await service?.close();
  });

  /** Calls the service from the page. A response that the page may not read is "Failed to fetch". */
  async function ask(
    path: string,
    init: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<Seen> {
    const args = JSON.stringify([service.url + path, { headers: { 'x-api-key': key }, ...init }]);
    return page.evaluate(`(async ([url, init]) => {
      try {
        const response = await fetch(url, init);
        return { status: response.status, body: JSON.parse((await response.text()) || '{}') };
      } catch (error) {
        return { status: 0, body: {}, error: String(error) };
      }
    })(${args})`) as Promise<Seen>;
  }

  /** The first event of a stream, as EventSource sees it. */
  async function firstEvent(path: string): Promise<unknown> {
    return page.evaluate(`new Promise((resolve) => {
      const source = new EventSource(${JSON.stringify(service.url + path)});
      const end = (data) => { source.close(); resolve(data); };
      source.addEventListener('rate', (event) => end(event.data));
      source.onerror = () => end('failed');
    })`);
  }

  for (const mount of ['', '/v1', '/v2', '/v3']) {
    const isLater = mount === '/v2' || mount === '/v3';

    test(`reads every endpoint under ${mount || '/'}`, async () => {
      for (const path of ENDPOINTS) {
        expect(await ask(mount + path), path).toMatchObject({ status: 200, body: { success: true } });
      }
      expect(await firstEvent(`${mount}/rates/stream?symbols=XAU&apiKey=${key}`)).toContain('"rate":2358.2');
    });

    test(`reads every error under ${mount || '/'}`, async () => {
      const latest = `${mount}/rates/latest?symbols=XAU`;
      const expectError = (seen: Seen, status: number, code: string) => {
        expect(seen.error, code).toBeUndefined();
        expect([seen.status, seen.body.code], code).toEqual([status, code]);
        expect(typeof seen.body.message).toBe('string');
        if (isLater) expect(seen.body).toMatchObject({ error: expect.any(String), path: expect.any(String) });
      };
      expectError(await ask(`${mount}/rates/latest`), 400, 'missing_parameter');
      expectError(await ask(latest, { headers: {} }), 401, 'missing_key');
      expectError(
        await ask(latest, { headers: { 'x-api-key': createKey(secureRandom) } }),
        401,
        'invalid_key',
      );
      expectError(await ask(`${mount}/latest`), 404, 'not_found');
      expectError(await ask(`${mount}/rates/latest?symbols=NOPE`), 404, 'unknown_symbol');
      expectError(await ask(`${mount}/rates/latest?symbols=ZINC`), 404, 'no_data');
      expectError(await ask(`${latest}&quote=XYZ`), 404, 'unknown_currency');
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        expectError(await ask(latest, { method, headers: { 'x-api-key': key } }), 405, 'method_not_allowed');
      }
      expectError(await ask(`${latest}&x=${'y'.repeat(9_000)}`), 414, 'uri_too_long');
      await service.setPlan({ name: 'tiny', quota: 0 });
      await service.setPlan({ name: 'slow', burstPerSecond: 1 });
      const tiny = { headers: { 'x-api-key': await service.key('tiny') } };
      expectError(await ask(latest, tiny), 429, 'quota_exhausted');
      const slow = { headers: { 'x-api-key': await service.key('slow') } };
      await ask(latest, slow);
      expectError(await ask(latest, slow), 429, 'rate_limited');
      service.core.phase = 'starting';
      expectError(await ask(latest), 503, 'unavailable');
      service.core.phase = 'ready';
      const usage = await ask(`${mount}/usage`, { headers: {} });
      expect([usage.status, typeof usage.body.error]).toEqual([401, 'string']);
    });
  }

  test('reads a partial answer of /v3', async () => {
    const seen = await ask('/v3/rates/latest?symbols=XAU,NOPE');
    expect(seen).toMatchObject({ status: 206, body: { rates: { XAU: 2358.2 }, unresolved: { NOPE: {} } } });
  });

  test('may send the headers that client libraries add, and a key in Authorization', async () => {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Cache-Control': 'no-cache',
      'X-Requested-With': 'XMLHttpRequest',
      'If-None-Match': '"x"',
      'X-Some-Header': 'x',
    };
    expect((await ask('/rates/latest?symbols=XAU', { headers })).status).toBe(200);
    expect((await ask('/nowhere', { headers })).body.code).toBe('not_found');
  });

  test('never gets the latest rates from the browser’s cache: the timestamp is that of the response', async () => {
    for (let i = 0; i < 3; i++) {
      service.clock.time += 1_000;
      const { body } = await ask('/rates/latest?symbols=XAU');
      expect(body.timestamp).toBe(Math.floor(service.clock.time / 1000));
    }
  });
});
