import { expect, spyOn, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { parseDay, printDay, weekday } from '../../../src/market/day.ts';
import * as fold from '../../../src/market/interval.ts';
import { INTERVALS } from '../../../src/market/interval.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { rawRequest } from '../../support/http/raw-download.ts';
import { onBunServe } from '../../support/http-server.ts';
import { onEachEngine } from '../../support/ledger.ts';

const FIRST = parseDay('1984-05-15')!;
const LAST = parseDay('2024-05-14')!;
const FORTY_YEARS = 'startDate=1984-05-15&endDate=2024-05-14';

/** Bars on weekdays. The one on 2020-04-20 is negative, the highest is in the last year. */
function fortyYears(seed: number): Record<string, [number, number, number, number]> {
  const bars: Record<string, [number, number, number, number]> = {};
  for (let day = FIRST; day <= LAST; day++) {
    if (weekday(day) === 0 || weekday(day) === 6) continue;
    const price = 20 + ((day * seed) % 9_973) / 100;
    const high = day === LAST - 100 - seed ? 5_000 + seed : price + 1;
    bars[printDay(day)] = [price, high, price - 0.5, price + 0.25];
  }
  bars['2020-04-20'] = [18, 18, -40.32, -37.63];
  return bars;
}

/** Follows `next` to the end. */
async function jsonPages(ask: (path: string) => Promise<{ body: Record<string, unknown> }>, path: string) {
  const rows: { date: string; symbol: string; close: number }[] = [];
  let pages = 0;
  let cursor = '';
  do {
    const { body } = await ask(path + cursor);
    rows.push(...(body.rates as typeof rows));
    cursor = body.next ? `&cursor=${body.next}` : '';
    pages++;
  } while (cursor !== '');
  return { rows, pages };
}

onEachEngine('CSV and NDJSON of /rates/history', (engine) => {
  const WTI = fortyYears(7);
  const GOLD = fortyYears(11);
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('WTIOIL-SPOT', WTI);
    await service.publish('XAU', GOLD);
    await service.publish('EUR/USD', Object.fromEntries(Object.keys(WTI).map((date) => [date, 1.25])));
  });
  const rowsIn = (csv: string) => csv.trimEnd().split('\r\n').slice(1);

  test('have all rows, in the order of the JSON pages, for any interval', async () => {
    for (const interval of INTERVALS) {
      const path = `/rates/history?symbols=WTIOIL-SPOT,XAU&${FORTY_YEARS}&interval=${interval}`;
      const { rows } = await jsonPages((page) => api.ask(page), path);
      const csv = rowsIn((await api.ask(`${path}&format=csv`)).text).map((line) => line.split(','));
      expect(csv.map(([date, symbol, , , , close]) => [date, symbol, Number(close)])).toEqual(
        rows.map(({ date, symbol, close }) => [date, symbol, close]),
      );
      const ndjson = (await api.ask(`${path}&format=ndjson`)).text.trimEnd().split('\n');
      expect(ndjson.map((line) => JSON.parse(line).close)).toEqual(rows.map(({ close }) => close));
    }
  });

  test('of forty years have the same maximum as the ledger', async () => {
    const { headers, text } = await api.ask(`/rates/history?symbols=WTIOIL-SPOT&${FORTY_YEARS}&format=csv`);
    const rows = rowsIn(text);
    expect(rows).toHaveLength(Object.keys(WTI).length);
    const max = Math.max(...Object.values(WTI).map(([, high]) => high));
    expect(Math.max(...rows.map((row) => Number(row.split(',')[3])))).toBe(max);
    expect(headers.get('link')).toBeNull();
    expect(headers.get('accept-ranges')).toBe('none');
  });

  test('cost one unit per started 2,000 rows, like pages of JSON', async () => {
    await api.service.setPlan({ name: 'long', quota: 1_000 });
    const rows = Object.keys(WTI).length;
    const units = Math.ceil(rows / 2_000);
    const path = `/rates/history?symbols=WTIOIL-SPOT&${FORTY_YEARS}`;
    for (const format of ['csv', 'ndjson', 'json']) {
      const key = await api.service.key('long');
      const ask = (one: string) => api.ask(one, { key });
      if (format === 'json') expect((await jsonPages(ask, path)).pages).toBe(units);
      else
        expect((await ask(`${path}&format=${format}`)).headers.get('ratelimit')).toContain(
          `r=${1_000 - units};`,
        );
      expect((await ask('/usage')).body.used).toBe(units);
    }
  });

  test('are refused with a 429 that names the cost if the quota is one unit short, and are then free', async () => {
    const units = Math.ceil(Object.keys(WTI).length / 2_000);
    await api.service.setPlan({ name: 'short', quota: units - 1 });
    const key = await api.service.key('short');
    const path = `/rates/history?symbols=WTIOIL-SPOT&${FORTY_YEARS}&format=csv`;
    const message = expectRefusal(await api.ask(path, { key }), 429, 'quota_exhausted');
    expect(message).toContain(`costs ${units} units`);
    expect((await api.ask('/usage', { key })).body.used).toBe(0);
    expect((await api.ask(`/rates/latest?symbols=XAU`, { key })).status).toBe(200);
    await api.service.setPlan({ name: 'enough', quota: units });
    const enough = await api.service.key('enough');
    expect((await api.ask(path, { key: enough })).status).toBe(200);
    expect((await api.ask('/usage', { key: enough })).body.used).toBe(units);
    expectRefusal(await api.ask('/rates/latest?symbols=XAU', { key: enough }), 429, 'quota_exhausted');
  });

  test('from a cursor continue to the end', async () => {
    const path = `/rates/history?symbols=WTIOIL-SPOT,XAU&${FORTY_YEARS}&interval=week`;
    const { body } = await api.ask(path);
    const all = rowsIn((await api.ask(`${path}&format=csv`)).text);
    const rest = rowsIn((await api.ask(`${path}&format=csv&cursor=${body.next}`)).text);
    expect(rest).toEqual(all.slice(2_000));
  });

  test('HEAD and 304 of JSON fold and convert no bars', async () => {
    const folded = spyOn(fold, 'foldBars');
    try {
      for (const rest of [
        '',
        '&interval=year',
        '&quote=EUR',
        '&interval=month&quote=EUR&unit=L',
        '&metadata=false',
      ]) {
        const path = `/rates/history?symbols=WTIOIL-SPOT&${FORTY_YEARS}${rest}`;
        const { headers } = await api.ask(path, { headers: { 'accept-encoding': 'identity' } });
        const tag = headers.get('etag')!;
        expect(folded).toHaveBeenCalled();
        folded.mockClear();
        expect((await api.ask(path, { method: 'HEAD' })).headers.get('etag')).toBe(tag);
        const again = await api.ask(`${path}&_=1`, { headers: { 'if-none-match': tag } });
        expect([again.status, again.headers.get('cache-control')]).toEqual([
          304,
          headers.get('cache-control'),
        ]);
        expect(folded).not.toHaveBeenCalled();
        expect((await api.ask(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
      }
    } finally {
      folded.mockRestore();
    }
  });

  test('the tag of a page of JSON changes with its own rows, but not with later ones', async () => {
    const path = `/rates/history?symbols=XAU&${FORTY_YEARS}`;
    const tag = async () => (await api.ask(path, { method: 'HEAD' })).headers.get('etag');
    const before = await tag();
    await api.service.publish('XAU', { '2015-06-01': 7 });
    expect(await tag()).toBe(before);
    await api.service.publish('XAU', { '1985-06-03': 7 });
    expect(await tag()).not.toBe(before);
    await api.service.publish('XAU', {
      '2015-06-01': GOLD['2015-06-01']!,
      '1985-06-03': GOLD['1985-06-03']!,
    });
  });

  test('the `Link` of JSON never contains the key; with the key appended it is the next page', async () => {
    const query = `symbols=WTIOIL-SPOT&${FORTY_YEARS}&apiKey=${api.key}`;
    const { headers, body } = await api.ask(`/rates/history?${query}`, { key: '' });
    const link = /^<(\?[^>]+)>; rel="next"$/.exec(headers.get('link')!)![1]!;
    expect(link).not.toContain(api.key);
    const message = expectRefusal(await api.ask(`/rates/history${link}`, { key: '' }), 401, 'missing_key');
    expect(message).toContain('append');
    const appended = await api.ask(`/rates/history${link}&apiKey=${api.key}`, { key: '' });
    const next = await api.ask(`/rates/history?${query}&cursor=${body.next}`, { key: '' });
    expect([appended.status, appended.text]).toEqual([200, next.text]);
  });

  test('answer HEAD and If-None-Match for free, with one tag for each format', async () => {
    await api.service.setPlan({ name: 'free-head', quota: 100 });
    const key = await api.service.key('free-head');
    const path = `/rates/history?symbols=WTIOIL-SPOT&${FORTY_YEARS}&format=`;
    const tags = new Set<string>();
    for (const format of ['csv', 'ndjson']) {
      const head = await api.ask(path + format, { key, method: 'HEAD' });
      expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', null]);
      const tag = head.headers.get('etag')!;
      tags.add(tag);
      const again = await api.ask(path + format, { key, headers: { 'if-none-match': tag } });
      expect([again.status, again.text]).toEqual([304, '']);
      expect(again.headers.get('etag')).toBe(tag);
    }
    expect(tags.size).toBe(2);
    expect((await api.ask('/usage', { key })).body.used).toBe(0);
    const { headers } = await api.ask(`${path}csv`, { key, headers: { 'accept-encoding': 'identity' } });
    expect(tags.has(headers.get('etag')!)).toBe(true);
    expect(headers.get('cache-control')).toBe('private, max-age=60');
  });

  test('get another tag from a correction of any day, but not of another symbol or a later day', async () => {
    const { service } = api;
    const path = `/rates/history?symbols=WTIOIL-SPOT&startDate=1984-05-15&endDate=2024-05-10&format=csv`;
    const tag = async (one = path) => (await api.ask(one, { method: 'HEAD' })).headers.get('etag');
    const before = await tag();
    await service.tick('XAU', 2_400);
    await service.tick('WTIOIL-SPOT', 80);
    await service.publish('WTIOIL-SPOT', { '2024-05-13': 81 });
    expect(await tag()).toBe(before);
    await service.publish('WTIOIL-SPOT', { '1999-03-01': 12.34 });
    const corrected = await tag();
    expect(corrected).not.toBe(before);
    const { text } = await api.ask(path);
    expect(text).toContain('1999-03-01,WTIOIL-SPOT,12.34,12.34,12.34,12.34');
    await service.publish('WTIOIL-SPOT', { '1999-03-01': WTI['1999-03-01']! });
    for (const other of ['&interval=week', '&quote=EUR', '&unit=L']) {
      expect([before, corrected]).not.toContain(await tag(path + other));
    }
  });

  test('are compressed for clients that accept gzip', async () => {
    const path = `/rates/history?symbols=XAU&${FORTY_YEARS}&format=csv&apiKey=${api.key}`;
    const plain = await rawRequest(api.service.url, path);
    const gzipped = await rawRequest(api.service.url, path, { headers: 'Accept-Encoding: gzip\r\n' });
    expect(gzipped.head).toContain('Content-Encoding: gzip');
    expect(gzipped.head).toMatch(/ETag: ".*-gzip"/);
    expect(gunzipSync(gzipped.body)).toEqual(plain.body);
    expect(gzipped.body.length).toBeLessThan(plain.body.length / 2);
  });

  test('in another currency are converted completely, or refused before the first row', async () => {
    const path = (start: string) =>
      `/rates/history?symbols=WTIOIL-SPOT&startDate=${start}&endDate=2024-05-14&quote=EUR&unit=L&format=csv`;
    const { text } = await api.ask(path('1984-05-15'));
    expect(rowsIn(text)).toHaveLength(Object.keys(WTI).length);
    for (const row of rowsIn(text)) expect(row).toContain(',L,EUR,');
    await api.service.publish('XAG', fortyYears(3));
    await api.service.publish('EUR/CHF', { '1999-01-04': 1.6, '2024-05-13': 0.98 });
    const missing = await api.ask(
      path('1984-05-15').replace('WTIOIL-SPOT', 'XAG').replace('EUR', 'CHF').replace('&unit=L', ''),
    );
    expectRefusal(missing, 404, 'no_data');
  });

  test.skipIf(onBunServe)(
    'reach clients that half-close the connection, and HTTP/1.0 clients with a length',
    async () => {
      const path = `/rates/history?symbols=XAU&${FORTY_YEARS}&format=csv&apiKey=${api.key}`;
      const { body } = await rawRequest(api.service.url, path);
      expect(rowsIn(body.toString())).toHaveLength(Object.keys(GOLD).length);
      expect((await rawRequest(api.service.url, path, { halfClose: true })).body).toEqual(body);
      const old = await rawRequest(api.service.url, path, { version: '1.0' });
      expect(old.head).toContain(`Content-Length: ${body.length}`);
      expect(old.body).toEqual(body);
    },
  );
});
