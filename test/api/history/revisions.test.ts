import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

const at = (text: string) => Date.parse(text);

onEachEngine('GET /rates/revisions', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish(
      'XAU',
      { '2024-05-08': [2300, 2315, 2299, 2310] },
      'feed',
      at('2024-05-08T22:00:00Z'),
    );
    const [gold] = (await service.ledger.symbols.list()).filter((one) => one.code === 'XAU');
    const bar = {
      symbolId: gold!.id,
      day: at('2024-05-08') / 86_400_000,
      open: 2300,
      high: 2316.5,
      low: 2299,
    };
    await service.ledger.bars.publish([{ ...bar, close: 2311 }], {
      source: 'exchange',
      recordedAt: at('2024-05-10T09:30:00.250Z'),
      reason: 'official "settlement"',
    });
    await service.core.follow();
    await service.publish('XAG', { '2024-05-08': 27.5, '2024-05-09': 28 });
  });
  const recordsOf = async (path: string, key = api.key) =>
    (await api.ask(path, { key })).body.rates as Record<string, Json[]>;

  test('lists all versions of a day, oldest first, with source, time and reason', async () => {
    const { body } = await api.ask('/rates/revisions?symbols=XAU&date=2024-05-08');
    const [first, second] = (body.rates as Record<string, Json[]>).XAU!;
    expect(body).toEqual({
      success: true,
      date: '2024-05-08',
      rates: {
        XAU: [
          {
            open: 2300,
            high: 2315,
            low: 2299,
            close: 2310,
            source: 'feed',
            recordedAt: '2024-05-08T22:00:00.000Z',
            reason: null,
            revision: first!.revision,
          },
          {
            open: 2300,
            high: 2316.5,
            low: 2299,
            close: 2311,
            source: 'exchange',
            recordedAt: '2024-05-10T09:30:00.250Z',
            reason: 'official "settlement"',
            revision: second!.revision,
          },
        ],
      },
      metadata: { XAU: { unit: 'T.oz', quote: 'USD' } },
    });
    expect(Number(first!.revision)).toBeLessThan(Number(second!.revision));
    const without = await api.ask('/rates/revisions?symbols=XAU&date=2024-05-08&metadata=false');
    expect(Object.keys(without.body)).toEqual(['success', 'date', 'rates']);
  });

  test('symbols have the codes as requested; a day without a bar has no versions', async () => {
    const rates = await recordsOf('/rates/revisions?symbols=silver,XAU,ZINC&date=2024-05-09');
    expect(Object.entries(rates).map(([code, records]) => [code, records.length])).toEqual([
      ['SILVER', 1],
      ['XAU', 0],
      ['ZINC', 0],
    ]);
  });

  test('a correction is visible at once, even after a recent request', async () => {
    const path = '/rates/revisions?symbols=PL&date=2024-05-08';
    await api.service.publish('PL', { '2024-05-08': 990 });
    expect((await recordsOf(path)).PL).toHaveLength(1);
    await api.service.publish('PL', { '2024-05-08': 991 });
    expect((await recordsOf(path)).PL!.map(({ close }) => close)).toEqual([990, 991]);
    expect((await api.ask(path)).headers.get('cache-control')).toBe('private, no-cache');
  });

  test('a delayed plan sees no version newer than its delay', async () => {
    const { service } = api;
    await service.setPlan({ name: 'hour', delaySeconds: 3600 });
    const hour = await service.key('hour');
    const path = '/rates/revisions?symbols=PA&date=2024-05-15';
    await service.publish('PA', { '2024-05-15': 970 }, 'test', NOON - 90 * MINUTE); // the session is not over
    await service.publish('PA', { '2024-05-15': 971 }, 'test', NOON - 30 * MINUTE);
    const closes = async (key: string) => (await recordsOf(path, key)).PA!.map(({ close }) => close);
    expect(await closes(api.key)).toEqual([970, 971]);
    expect(await closes(hour)).toEqual([970]);
    service.clock.time = NOON + 30 * MINUTE;
    expect(await closes(hour)).toEqual([970, 971]);
    service.clock.time = NOON;
  });

  test('its parameters are validated like those of historical', async () => {
    expectRefusal(await api.ask('/rates/revisions?date=2024-05-08'), 400, 'missing_parameter');
    expectRefusal(await api.ask('/rates/revisions?symbols=XAU'), 400, 'missing_parameter');
    expectRefusal(await api.ask('/rates/revisions?symbols=XAU&date=2024-02-30'), 400, 'invalid_date');
    expectRefusal(await api.ask('/rates/revisions?symbols=XAU&date=2024-06-01'), 400, 'date_in_future');
    expectRefusal(await api.ask('/rates/revisions?symbols=NOPE&date=2024-05-08'), 404, 'unknown_symbol');
  });
});

onEachEngine('GET /rates/revisions over a range', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    const recorded = at('2024-05-01T00:00:00Z');
    const days = Object.fromEntries([2, 3, 7, 8, 9].map((day) => [`2024-05-0${day}`, day]));
    await service.publish('XAU', days, 'feed', recorded);
    await service.publish('XAG', days, 'feed', recorded);
    await service.publish('XAU', { '2024-05-03': 30, '2024-05-08': 80 }, 'feed', recorded);
    await service.publish('XAU', { '2024-05-08': 81 }, 'feed', recorded);
    await service.publish('XAG', { '2024-05-08': 82 }, 'exchange', recorded);
  });
  const ask = (query: string, key = api.key) => api.ask(`/rates/revisions?${query}`, { key });
  type Ranged = { rates: Record<string, Record<string, Json[]>>; next: string | null };
  const closesOf = ({ rates }: Ranged) =>
    Object.entries(rates).map(([date, symbols]) => [
      date,
      Object.entries(symbols).map(([code, bars]) => [code, ...bars.map(({ close }) => close)]),
    ]);

  test('lists only the days with more than one version, and all their versions', async () => {
    const { body } = await ask('symbols=XAU,XAG&startDate=2024-05-01&endDate=2024-05-14');
    expect(body).toMatchObject({ success: true, startDate: '2024-05-01', endDate: '2024-05-14', next: null });
    expect(closesOf(body as unknown as Ranged)).toEqual([
      ['2024-05-03', [['XAU', 3, 30]]],
      [
        '2024-05-08',
        [
          ['XAU', 8, 80, 81],
          ['XAG', 8, 82],
        ],
      ],
    ]);
    expect(body.metadata).toEqual({
      XAU: { unit: 'T.oz', quote: 'USD' },
      XAG: { unit: 'T.oz', quote: 'USD' },
    });
    const none = await ask('symbols=XAU&startDate=2024-05-09&endDate=2024-05-14&metadata=false');
    expect(Object.keys(none.body)).toEqual(['success', 'startDate', 'endDate', 'rates', 'next']);
    expect(none.body.rates).toEqual({});
  });

  test('is a flat table with the day of each version', async () => {
    const { text } = await ask('symbols=XAU&startDate=2024-05-01&endDate=2024-05-14&format=csv');
    const cells = text
      .trim()
      .split('\r\n')
      .map((line) => line.split(','));
    expect(cells.map((row) => [row[0], row[6]])).toEqual([
      ['date', 'close'],
      ['2024-05-03', '3'],
      ['2024-05-03', '30'],
      ['2024-05-08', '8'],
      ['2024-05-08', '80'],
      ['2024-05-08', '81'],
    ]);
  });

  test('a delayed plan sees no day as revised before it sees the revision', async () => {
    const { service } = api;
    await service.setPlan({ name: 'hour', delaySeconds: 3600 });
    const hour = await service.key('hour');
    await service.publish('PA', { '2024-05-15': 970 }, 'test', NOON - 90 * MINUTE);
    await service.publish('PA', { '2024-05-15': 971 }, 'test', NOON - 30 * MINUTE);
    const query = 'symbols=PA&startDate=2024-05-01&endDate=2024-05-15';
    expect(Object.keys((await ask(query)).body.rates as Json)).toEqual(['2024-05-15']);
    expect((await ask(query, hour)).body.rates).toEqual({});
    service.clock.time = NOON + 30 * MINUTE;
    expect(Object.keys((await ask(query, hour)).body.rates as Json)).toEqual(['2024-05-15']);
    service.clock.time = NOON;
  });

  test('is paginated by whole days, and no version is missing or repeated', async () => {
    const { service } = api;
    const first = at('2010-01-01');
    const dates = Array.from({ length: 700 }, (_, i) =>
      new Date(first + i * 86_400_000).toISOString().slice(0, 10),
    );
    const all = (price: number) => Object.fromEntries(dates.map((date) => [date, price]));
    for (const price of [1, 2, 3, 4]) await service.publish('ZINC', all(price));
    for (const price of [1, 2]) await service.publish('TIN', all(price));
    const query = 'symbols=ZINC,TIN&startDate=2010-01-01&endDate=2024-05-01';
    const told: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const { body } = await ask(cursor === '' ? query : `${query}&cursor=${cursor}`);
      const { rates, next } = body as unknown as Ranged;
      let versions = 0;
      for (const [date, symbols] of Object.entries(rates))
        for (const [code, bars] of Object.entries(symbols)) {
          versions += bars.length;
          for (const { close } of bars) told.push(`${date} ${code} ${close}`);
        }
      expect(versions).toBeLessThanOrEqual(2_000);
      cursor = next;
    }
    expect(pages).toBe(3);
    expect(told).toEqual(
      dates.flatMap((date) => [
        ...[1, 2, 3, 4].map((close) => `${date} ZINC ${close}`),
        ...[1, 2].map((close) => `${date} TIN ${close}`),
      ]),
    );
  });

  test('a plan without long history has its span limit, and invalid ranges are refused', async () => {
    await api.service.setPlan({ name: 'short', history: false });
    const key = await api.service.key('short');
    expect((await ask('symbols=XAU&startDate=2024-04-15&endDate=2024-05-15', key)).status).toBe(200);
    const long = await ask('symbols=XAU&startDate=2024-04-14&endDate=2024-05-15', key);
    expectRefusal(long, 400, 'range_too_long');
    expectRefusal(await ask('symbols=XAU&startDate=2024-05-01'), 400, 'missing_parameter');
    const swapped = await ask('symbols=XAU&startDate=2024-05-02&endDate=2024-05-01');
    expectRefusal(swapped, 400, 'invalid_range');
    const strange = await ask('symbols=XAU&startDate=2024-05-01&endDate=2024-05-02&cursor=x');
    expectRefusal(strange, 400, 'invalid_cursor');
  });
});

onEachEngine('GET /rates/revisions with simulated prices', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_DEMO: 'true' } });

  test('real and simulated versions never mix', async () => {
    const path = '/rates/revisions?symbols=ZINC&date=2024-05-08';
    const sources = async () => {
      const { rates } = (await api.ask(path)).body as { rates: { ZINC: Json[] } };
      return rates.ZINC.map(({ source }) => source);
    };
    await api.service.publish('ZINC', { '2024-05-08': 2900 }, 'simulated');
    expect(await sources()).toEqual(['simulated']);
    await api.service.publish('ZINC', { '2024-05-08': 2950 }, 'exchange');
    expect(await sources()).toEqual(['exchange']);
  });
});
