import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Day, parseDay, printDay } from '../../../src/market/day.ts';
import { INTERVALS, type Interval, intervalStart } from '../../../src/market/interval.ts';
import { type Api, apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

interface Row {
  date: string;
  symbol: string;
  open: number;
  high: number;
  low: number;
  close: number;
  factor?: number;
  average?: number;
  count?: number;
}

type Prices = [number, number, number, number];

/** Bars on about every weekday, with prices derived from the day. */
function longHistory(first: Day, last: Day, gap: number): Record<string, Prices> {
  const bars: Record<string, Prices> = {};
  for (let day = first; day <= last; day++) {
    if (day % gap === 0) continue;
    const price = (day * 7919) % 1000;
    bars[printDay(day)] = [price, price + (day % 13), price - (day % 7), price + (day % 5) - 2];
  }
  return bars;
}

const FIRST = parseDay('2010-01-04')!;
const LAST = parseDay('2024-05-14')!;
const GOLD = longHistory(FIRST, LAST, 7);
const SILVER = longHistory(FIRST + 1000, LAST, 5);
const WHOLE = 'startDate=2010-01-01&endDate=2024-12-31';

function naive(
  code: string,
  bars: Record<string, Prices>,
  interval: Interval,
  first: string,
  last: string,
): Row[] {
  const inside = Object.entries(bars).filter(([date]) => date >= first && date <= last);
  const groups = Map.groupBy(inside, ([date]) => printDay(intervalStart(interval, parseDay(date)!)));
  return [...groups].map(([date, group]) => ({
    date,
    symbol: code,
    open: group[0]![1][0],
    high: Math.max(...group.map(([, bar]) => bar[1])),
    low: Math.min(...group.map(([, bar]) => bar[2])),
    close: group.at(-1)![1][3],
  }));
}

/** The rows without what averages.test.ts is about. */
function barsOf(rows: readonly Row[]): Row[] {
  return rows.map(({ average, count, ...bar }) => bar);
}

/** Follows `next` to the end. */
async function allPages(api: Api, path: string): Promise<Row[][]> {
  const pages: Row[][] = [];
  let cursor = '';
  do {
    const { status, body } = await api.ask(path + cursor);
    expect(status).toBe(200);
    pages.push(body.rates as Row[]);
    cursor = body.next === null ? '' : `&cursor=${body.next}`;
  } while (cursor !== '');
  return pages;
}

onEachEngine('GET /rates/history', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', GOLD);
    await service.publish('XAG', SILVER);
    await service.publish('PL', { '2024-05-13': [1, 4, 0.5, 2], '2024-05-14': [2, 3, 1.5, 2.5] });
  });

  test('an interval has the first open, the last close, the highest high and the lowest low', async () => {
    const { text } = await api.ask(
      '/rates/history?symbols=PL&startDate=2024-01-01&endDate=2024-05-14&interval=month',
    );
    expect(text).toBe(
      '{"success":true,"startDate":"2024-01-01","endDate":"2024-05-14","interval":"month",' +
        '"rates":[{"date":"2024-05-01","symbol":"PL","open":1,"high":4,"low":0.5,"close":2.5,"average":2.25,"count":2}],"next":null,' +
        '"metadata":{"PL":{"unit":"T.oz","quote":"USD","source":"test"}}}',
    );
  });

  for (const interval of INTERVALS) {
    test(`folding by ${interval} is a naive fold, and pages are the rows without pages`, async () => {
      const path = `/rates/history?symbols=XAG,XAU&${WHOLE}&interval=${interval}`;
      const pages = await allPages(api, path);
      const expected = [
        ...naive('XAG', SILVER, interval, '2010-01-01', '2024-12-31'),
        ...naive('XAU', GOLD, interval, '2010-01-01', '2024-12-31'),
      ].sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : a.symbol < b.symbol ? -1 : 1));
      expect(barsOf(pages.flat())).toEqual(expected);
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(2000);
      expect(pages).toHaveLength(Math.ceil(expected.length / 2000));
    });
  }

  test('a page folded from many bars may be shorter, and the pages still have all rows', async () => {
    const { service } = api;
    const codes = ['CT', 'COAL', 'TIN', 'ZINC', 'CORN', 'LC1', 'TEA', 'WOOL', 'BEEF', 'GA', 'LAMB', 'POUL'];
    for (const code of codes) await service.publish(code, GOLD);
    const path = `/rates/history?symbols=${[...codes, 'XAU', 'XAG']}&${WHOLE}&interval=year`;
    const pages = await allPages(api, path);
    expect(pages.length).toBeGreaterThan(1);
    const expected = codes.flatMap((code) => naive(code, GOLD, 'year', '2010-01-01', '2024-12-31'));
    const rows = barsOf(pages.flat()).filter(({ symbol }) => codes.includes(symbol));
    expect(rows).toEqual(
      expected.sort(
        (a, b) => a.date.localeCompare(b.date) || codes.indexOf(a.symbol) - codes.indexOf(b.symbol),
      ),
    );
  });

  test('any span and interval has the rows of the naive fold', async () => {
    const day = fc.integer({ min: FIRST - 50, max: LAST });
    const property = fc.asyncProperty(
      fc.constantFrom(...INTERVALS),
      day,
      fc.nat(1500),
      async (one, d, span) => {
        const [first, last] = [printDay(d), printDay(d + span)];
        const path = `/rates/history?symbols=XAU&startDate=${first}&endDate=${last}&interval=${one}`;
        expect(barsOf((await allPages(api, path)).flat())).toEqual(naive('XAU', GOLD, one, first, last));
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  test('rows are ordered by date and then as requested; the default interval is a day', async () => {
    const path = '/rates/history?symbols=PL,XAU&startDate=2024-05-13&endDate=2024-05-14';
    const { body } = await api.ask(path);
    expect((body.rates as Row[]).map(({ date, symbol }) => `${date} ${symbol}`)).toEqual([
      '2024-05-13 PL',
      '2024-05-13 XAU',
      '2024-05-14 PL',
      '2024-05-14 XAU',
    ]);
    expect(body.interval).toBe('day');
  });

  test('a span without prices is an empty list', async () => {
    for (const symbols of ['PL', 'ZINC']) {
      const path = `/rates/history?symbols=${symbols}&startDate=1990-01-01&endDate=1999-12-31&interval=year`;
      expect((await api.ask(path)).body).toMatchObject({ success: true, rates: [], next: null });
    }
  });

  test('a cursor keeps its position when newer and older prices arrive', async () => {
    const { service } = api;
    const path = '/rates/history?symbols=CC&startDate=2000-01-01&endDate=2024-12-31';
    await service.publish('CC', longHistory(FIRST, FIRST + 2500, 7));
    const first = (await api.ask(path)).body;
    await service.publish('CC', { '2005-01-03': 1, '2024-05-14': 2 });
    const second = (await api.ask(`${path}&cursor=${first.next}`)).body.rates as Row[];
    const all = (await allPages(api, path)).flat().filter(({ date }) => date !== '2005-01-03');
    expect([...(first.rates as Row[]), ...second]).toEqual(all);
  });

  test('a cursor of another request, or a malformed one, is refused', async () => {
    const path = (interval: string) => `/rates/history?symbols=XAU&${WHOLE}&interval=${interval}`;
    const { next } = (await api.ask(path('day'))).body;
    expect(next).toBeString();
    expectRefusal(await api.ask(`${path('week')}&cursor=${next}`), 400, 'invalid_cursor');
    for (const cursor of ['', 'x', '%00', `${next}${next}`]) {
      expectRefusal(await api.ask(`${path('day')}&cursor=${cursor}`), 400, 'invalid_cursor');
    }
    expect((await api.ask(`${path('day').replace('XAU', 'xau')}&cursor=${next}`)).status).toBe(200);
  });

  test('a cursor is refused if a parameter changes that the values of rows depend on', async () => {
    const path = `/rates/history?symbols=XAU&${WHOLE}`;
    const queries = ['', '&quote=USX', '&unit=kg', '&quote=USX&unit=kg', '&unit=g', '&asOf=2024-05-15'];
    const cursors = new Map<string, unknown>();
    for (const query of queries) cursors.set(query, (await api.ask(path + query)).body.next);
    for (const [made, cursor] of cursors) {
      for (const query of queries) {
        const answer = await api.ask(`${path}${query}&cursor=${cursor}`);
        if (query === made) expect(answer.status).toBe(200);
        else expectRefusal(answer, 400, 'invalid_cursor');
      }
    }
    const inOtherCase = `${path}&quote=usx&unit=KG&cursor=${cursors.get('&quote=USX&unit=kg')}`;
    expect((await api.ask(inOtherCase)).status).toBe(200);
  });

  test('the next page is also in a Link header, without the key', async () => {
    const path = `/rates/history?symbols=XAU&${WHOLE}&apiKey=${api.key}`;
    const { headers, body } = await api.ask(path, { key: '' });
    const link = /^<(\?[^>]*)>; rel="next"$/.exec(headers.get('link')!)![1]!;
    expect(link).not.toContain(api.key.slice(0, 20));
    const linked = await api.ask(`/rates/history${link}`);
    expect(linked.text).toBe((await api.ask(`${path}&cursor=${body.next}`)).text);
    const last = await api.ask('/rates/history?symbols=PL&startDate=2024-05-13&endDate=2024-05-14');
    expect(last.headers.has('link')).toBe(false);
  });

  test('its parameters are validated: interval, range, symbols, dates', async () => {
    const path = (rest: string) => `/rates/history?symbols=XAU&${rest}`;
    const wrong = await api.ask(path(`${WHOLE}&interval=decade`));
    expect(expectRefusal(wrong, 400, 'invalid_interval')).toContain('day, week, month, quarter, year');
    expectRefusal(await api.ask(path('startDate=2024-05-01')), 400, 'missing_parameter');
    expectRefusal(await api.ask(path('startDate=2024-05-02&endDate=2024-05-01')), 400, 'invalid_range');
    expectRefusal(await api.ask(path('startDate=2024-06-01&endDate=2024-06-02')), 400, 'date_in_future');
    expectRefusal(await api.ask(`/rates/history?symbols=NOPE&${WHOLE}`), 404, 'unknown_symbol');
    expect((await api.ask(path(`${WHOLE}&interval=YEAR`))).status).toBe(200);
  });

  test('a page costs one unit, whatever its size', async () => {
    await api.service.setPlan({ name: 'counted', quota: 10 });
    const key = await api.service.key('counted');
    await api.ask(`/rates/history?symbols=XAU,XAG&${WHOLE}`, { key });
    await api.ask(`/rates/history?symbols=XAU,XAG&${WHOLE}`, { key });
    expect((await api.ask('/usage', { key })).body.used).toBe(2);
  });

  test('a plan may exclude it, and the refusal says so', async () => {
    const { service } = api;
    await service.setPlan({ name: 'short', history: false });
    const key = await service.key('short');
    const path = `/rates/history?symbols=XAU&${WHOLE}`;
    expect(expectRefusal(await api.ask(path, { key }), 403, 'history_not_in_plan')).toContain('"short"');
    await service.setPlan({ name: 'short', history: true });
    expect((await api.ask(path, { key })).status).toBe(200);
    expect((await api.ask(path, { key })).status).toBe(200);
    await service.setPlan({ name: 'short', history: false });
    expectRefusal(await api.ask(path, { key }), 403, 'history_not_in_plan');
  });

  test('a delayed plan sees nothing newer than its delay', async () => {
    const { service } = api;
    await service.setPlan({ name: 'hour', delaySeconds: 3600 });
    const hour = await service.key('hour');
    await service.publish('PA', { '2024-05-14': 970 });
    await service.tick('PA', 980, NOON - 30 * MINUTE);
    const path = '/rates/history?symbols=PA&startDate=2024-05-01&endDate=2024-05-31&interval=month';
    const rowOf = async (key: string) => ((await api.ask(path, { key })).body.rates as Row[])[0];
    expect(await rowOf(api.key)).toMatchObject({ high: 980, close: 980 });
    expect(await rowOf(hour)).toMatchObject({ high: 970, close: 970 });
    service.clock.time = NOON + 30 * MINUTE;
    expect(await rowOf(hour)).toMatchObject({ high: 980, close: 980 });
    service.clock.time = NOON;
  });

  test('in another currency, each day is converted at its own rate and then folded', async () => {
    const { service } = api;
    await service.publish('EUR/USD', { '2024-05-13': 1.25, '2024-05-14': 1 }, 'ecb');
    const path = '/rates/history?symbols=PL&startDate=2024-05-13&endDate=2024-05-14&interval=week&quote=EUR';
    const { body } = await api.ask(path);
    const prices = { open: 0.8, high: 3.2, low: 0.4, close: 2.5, factor: 1, average: 2.05, count: 2 };
    expect(body.rates).toEqual([{ date: '2024-05-13', symbol: 'PL', ...prices }]);
    expect(body.metadata).toEqual({ PL: { unit: 'T.oz', quote: 'EUR', source: 'test, ecb' } });
  });

  test('as of a past time, it is what was known then', async () => {
    const { service } = api;
    await service.publish('HG-SPOT', { '2024-05-08': 4.5 }, 'test', Date.UTC(2024, 4, 9));
    await service.publish('HG-SPOT', { '2024-05-08': 4.6 }, 'test', Date.UTC(2024, 4, 11));
    const path = '/rates/history?symbols=HG-SPOT&startDate=2024-05-01&endDate=2024-05-08&interval=month';
    const close = async (rest: string) => ((await api.ask(path + rest)).body.rates as Row[])[0]!.close;
    expect([await close('&asOf=2024-05-10'), await close('')]).toEqual([4.5, 4.6]);
  });

  test('a page of closed days may be cached, the page with today is revalidated', async () => {
    const path = `/rates/history?symbols=XAU&${WHOLE}`;
    const first = await api.ask(path);
    expect(first.headers.get('cache-control')).toBe('private, max-age=60');
    let { body, headers } = first;
    while (body.next !== null) ({ body, headers } = await api.ask(`${path}&cursor=${body.next}`));
    expect(headers.get('cache-control')).toBe('private, no-cache');
  });
});
