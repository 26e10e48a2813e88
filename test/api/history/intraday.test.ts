import { expect, test } from 'bun:test';
import { Closer } from '../../../src/feeds/close/closer.ts';
import { Pruner } from '../../../src/feeds/close/pruner.ts';
import { MS_PER_DAY } from '../../../src/market/day.ts';
import { type Api, apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { symbolOf } from '../../support/ledgers.ts';
import { MINUTE, NOON } from '../../support/service.ts';

/** Wednesday 2024-05-15, 14:00 UTC; the service's clock is at 16:00. */
const TWO = Date.UTC(2024, 4, 15, 14);
const RANGE = 'startDate=2024-05-15T14:00:00Z&endDate=2024-05-15T15:59:59Z';

/** Minutes after 14:00 and prices, the last first: pushes may come in any order. */
const GOLD: readonly (readonly [minutes: number, price: number])[] = [
  [61.5, 2_340],
  [7, 2_352.5],
  [0.2, 2_350],
  [0.9, 2_351],
  [0.5, 2_349],
  [4.9, 2_353.2],
];

onEachEngine('intraday history', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const [minutes, price] of GOLD) await service.tick('XAU', price, TWO + minutes * MINUTE);
    await service.tick('XAG', 28.4, TWO + 0.1 * MINUTE);
    await service.tick('XAG', 29, TWO + 61 * MINUTE);
    await service.publish('EUR/USD', { '2024-05-14': 1.25 });
  });
  const rowsOf = async (rest: string, key = api.key) => {
    const { body, status, text } = await api.ask(`/rates/history?${rest}`, { key });
    expect([status, text]).toEqual([200, text]);
    return body.rates as Json[];
  };
  const gold = (interval: string, rest = RANGE) => rowsOf(`symbols=XAU&interval=${interval}&${rest}`);

  test('has one row per interval with prices, with the average of the closes of its minutes', async () => {
    expect(await gold('minute')).toEqual([
      row('14:00', [2_350, 2_351, 2_349, 2_351], 2_351, 1),
      row('14:04', flat(2_353.2), 2_353.2, 1),
      row('14:07', flat(2_352.5), 2_352.5, 1),
      row('15:01', flat(2_340), 2_340, 1),
    ]);
    expect(await gold('5min')).toEqual([
      row('14:00', [2_350, 2_353.2, 2_349, 2_353.2], 2_352.1, 2),
      row('14:05', flat(2_352.5), 2_352.5, 1),
      row('15:00', flat(2_340), 2_340, 1),
    ]);
    expect(await gold('15min')).toMatchObject([{ date: '2024-05-15T14:00:00Z', count: 3 }, { count: 1 }]);
    expect(await gold('hour')).toEqual([
      row('14:00', [2_350, 2_353.2, 2_349, 2_352.5], 2_352.23, 3),
      row('15:00', flat(2_340), 2_340, 1),
    ]);
  });

  test('startDate and endDate are times or UTC days; rows are the intervals that begin between them', async () => {
    const times = async (rest: string) => (await gold('minute', rest)).map(({ date }) => date);
    expect(await times('startDate=2024-05-15&endDate=2024-05-15')).toHaveLength(4);
    expect(await times('startDate=2024-05-15T14:00:01Z&endDate=2024-05-15T14:07:00Z')).toEqual([
      '2024-05-15T14:04:00Z',
      '2024-05-15T14:07:00Z',
    ]);
    expect(await times('startDate=2024-05-15T16:04:00%2B02:00&endDate=2024-05-15T14:06')).toEqual([
      '2024-05-15T14:04:00Z',
    ]);
    expect(await times('startDate=1950-01-01&endDate=2150-01-01')).toHaveLength(4);
    const { body } = await api.ask(`/rates/history?symbols=XAU&interval=hour&${RANGE}`);
    expect(body).toMatchObject({
      ...dates('2024-05-15T14:00:00Z', '2024-05-15T15:59:59Z'),
      interval: 'hour',
    });
  });

  test('is served as CSV, NDJSON and in the wide layout', async () => {
    const text = async (rest: string) => (await api.ask(`/rates/history?${rest}&${RANGE}`)).text;
    expect(await text('symbols=XAU&interval=hour&format=csv')).toBe(
      'date,symbol,open,high,low,close,unit,quote,factor,source,average,count\r\n' +
        '2024-05-15T14:00:00Z,XAU,2350,2353.2,2349,2352.5,T.oz,USD,1,test,2352.23,3\r\n' +
        '2024-05-15T15:00:00Z,XAU,2340,2340,2340,2340,T.oz,USD,1,test,2340,1\r\n',
    );
    expect(await text('symbols=XAU,XAG&interval=minute&format=csv&layout=wide')).toBe(
      'date,XAU,XAG\r\n2024-05-15T14:00:00Z,2351,28.4\r\n2024-05-15T14:04:00Z,2353.2,\r\n' +
        '2024-05-15T14:07:00Z,2352.5,\r\n2024-05-15T15:01:00Z,2340,29\r\n',
    );
    expect((await text('symbols=XAG&interval=hour&format=ndjson')).split('\n')[0]).toContain(
      '"date":"2024-05-15T14:00:00Z","symbol":"XAG","open":28.4',
    );
  });

  test('converts currencies and units, and derives from closes', async () => {
    expect(await rowsOf(`symbols=XAU&interval=hour&quote=EUR&${RANGE}`)).toMatchObject([
      { open: 1_880, close: 1_882, factor: 0.8, average: 1_881.7867, count: 3 },
      { close: 1_872 },
    ]);
    const derived = await rowsOf(
      `symbols=XAU&interval=minute&transform=change&moving=2&startDate=2024-05-15T14:05:00Z&endDate=2024-05-15`,
    );
    expect(derived).toMatchObject([
      { close: 2_352.5, change: -0.7, moving: 2_352.85 },
      { close: 2_340, change: -12.5, moving: 2_346.25 },
    ]);
    const index = await gold('minute', `transform=index&${RANGE}`);
    expect(index.map((one) => one.index)).toEqual([100, 100.0936, 100.0638, 99.5321]);
  });

  test('a table has averages and changes throughout, also after long times without prices', async () => {
    const { service } = api;
    const [sparse, dense] = [await symbolOf(service.ledger, 'PL'), await symbolOf(service.ledger, 'PA')];
    const tick = (symbolId: number, at: number, price: number) => {
      return { symbolId, at, received: at, price, id: `${at}` };
    };
    const days = [60, 40, 20, 0];
    await service.ledger.ticks.append(
      [
        ...days.map((ago) => tick(sparse.id, TWO - ago * MS_PER_DAY, 1_000 + ago)),
        ...Array.from({ length: 2_100 }, (_, i) => tick(dense.id, TWO - (i + 1) * MINUTE, 900)),
      ],
      'test',
    );
    await service.core.follow();
    const range = 'startDate=2024-03-01&endDate=2024-05-15';
    const path = `/rates/history?symbols=PL,PA&interval=minute&transform=change&moving=3&${range}`;
    const { text } = await api.ask(`${path}&format=ndjson`);
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(2_104);
    expect(rows.filter(({ symbol }) => symbol === 'PL')).toMatchObject([
      { close: 1_060 },
      { close: 1_040, change: -20 },
      { close: 1_020, change: -20, moving: 1_040 },
      { close: 1_000, change: -20, moving: 1_020 },
    ]);
    expect(rows.filter(({ symbol, moving }) => symbol === 'PA' && moving === 900)).toHaveLength(2_098);
  });

  test('a formula has the value of the closes of each interval in which all its symbols have one', async () => {
    const formula = encodeURIComponent('{XAU}/{XAG}');
    expect(await rowsOf(`symbols=${formula}&interval=hour&${RANGE}`)).toMatchObject([
      { symbol: '{XAU}/{XAG}', close: 82.8345070422535 },
      { close: 80.6896551724138 },
    ]);
    expect(await rowsOf(`symbols=${formula}&interval=minute&${RANGE}`)).toMatchObject([
      { date: '2024-05-15T14:00:00Z' },
      { date: '2024-05-15T15:01:00Z' },
    ]);
  });

  test('a delayed plan sees no price younger than its delay, in an interval so far', async () => {
    const delayed = await api.service.key('free'); // an hour
    await api.service.setPlan({ name: 'slow', delaySeconds: 115 * 60 });
    expect(await rowsOf(`symbols=XAU&interval=hour&${RANGE}`, delayed)).toMatchObject([{ close: 2_352.5 }]);
    const rows = await rowsOf(`symbols=XAU&interval=hour&${RANGE}`, await api.service.key('slow'));
    expect(rows).toMatchObject([{ high: 2_353.2, close: 2_353.2, count: 2 }]);
  });

  test('what makes no sense for it is refused', async () => {
    const ask = (rest: string) => api.ask(`/rates/history?symbols=XAU&interval=hour&${rest}`);
    expectRefusal(await ask(`${RANGE}&asOf=2024-05-10`), 400, 'invalid_parameter');
    const hour25 = await ask('startDate=2024-05-15T25:00:00Z&endDate=2024-05-15');
    expect(expectRefusal(hour25, 400, 'invalid_date')).toContain('or a time, as 2024-05-14T15:30:00Z');
    expectRefusal(await ask('startDate=2024-05-15T15:00Z&endDate=2024-05-15T14:00Z'), 400, 'invalid_range');
    expectRefusal(await ask('startDate=2024-05-17&endDate=2024-05-18'), 400, 'date_in_future');
    expectRefusal(await ask(`${RANGE}&cursor=AAAA`), 400, 'invalid_cursor');
    const unknown = await api.ask(`/rates/history?symbols=XAU&interval=2min&${RANGE}`);
    expect(expectRefusal(unknown, 400, 'invalid_interval')).toContain('minute, 5min, 15min, hour, day');
    await api.service.setPlan({ name: 'short', history: false });
    const short = { key: await api.service.key('short') };
    const refused = await api.ask(`/rates/history?symbols=XAU&interval=hour&${RANGE}`, short);
    expectRefusal(refused, 403, 'history_not_in_plan');
  });
});

onEachEngine('long intraday history', (engine) => {
  /** A price of gold and of silver in each of 1,500 minutes, nine days ago. */
  const START = NOON - 9 * MS_PER_DAY;
  const api = apiOn(engine, { now: START }, async ({ service }) => {
    const ids: number[] = [];
    for (const code of ['XAU', 'XAG']) ids.push((await symbolOf(service.ledger, code)).id);
    const ticks = Array.from({ length: 3_000 }, (_, i) => {
      const at = START + (i >> 1) * MINUTE + 5;
      return { symbolId: ids[i % 2]!, id: `${i}`, at, received: at, price: 100 + (i % 2) + (i % 50) / 4 };
    });
    await service.ledger.ticks.append(ticks, 'test');
    service.clock.time = NOON;
    await service.core.follow();
  });
  const path = `/rates/history?symbols=XAU,XAG&interval=minute&startDate=2024-05-01&endDate=2024-05-14`;

  test('is paginated in JSON and complete in a table, before and after its ticks are deleted', async () => {
    const before = await everything(api, path);
    expect(before.rates).toHaveLength(3_000);
    expect(new Set(before.rates.map(({ date, symbol }) => `${date} ${symbol}`)).size).toBe(3_000);
    expect(before.pages).toBe(2);
    expect(before.csv.split('\r\n')).toHaveLength(3_002);
    expect(before.wide.split('\r\n')).toHaveLength(1_502);

    const closer = new Closer(api.service.ledger);
    await closer.close(NOON);
    await new Pruner(api.service.ledger).prune(NOON);
    const [left] = await api.service.ledger.engine.read`SELECT count(*) AS n FROM tick`;
    expect(Number(left!.n)).toBe(0);
    expect(await everything(api, path)).toEqual(before);
    const hours = (await api.ask(path.replace('minute', 'hour'))).body.rates as Json[];
    expect(hours.reduce((sum, { count }) => sum + Number(count), 0)).toBe(3_000);
  });

  test('costs a unit per page, and a table one per started 2,000 rows', async () => {
    const key = await api.service.key();
    const used = async () => (await api.ask('/usage', { key })).body.used;
    await api.ask(path, { key });
    expect(await used()).toBe(1);
    await api.ask(`${path}&format=csv`, { key });
    expect(await used()).toBe(3);
  });

  test('a range before the first minute or hour that is kept has a warning', async () => {
    const { service } = api;
    await service.publish('XAU', { '2024-04-15': 100 });
    const warnings = async (interval: string) => {
      const range = 'startDate=2024-04-16&endDate=2024-05-01';
      return (await api.ask(`/rates/history?symbols=XAU&interval=${interval}&${range}`)).body.warnings;
    };
    const starts = (detail: string) => [
      `The prices of XAU by the ${detail} start on 2024-05-06, after this range.`,
    ];
    expect([await warnings('15min'), await warnings('hour')]).toEqual([starts('minute'), starts('hour')]);
    await service.ledger.retention.apply(NOON + 120 * MS_PER_DAY);
    expect(await warnings('15min')).toEqual(['XAU has no prices by the minute.']);
    expect(await warnings('hour')).toEqual(starts('hour'));
  });
});

/** All pages of JSON, and the tables. */
async function everything(api: Api, path: string) {
  const rates: Json[] = [];
  let pages = 0;
  for (let cursor = ''; ; ) {
    const { body } = await api.ask(`${path}${cursor}`);
    rates.push(...(body.rates as Json[]));
    pages++;
    if (!body.next) break;
    cursor = `&cursor=${body.next}`;
  }
  const csv = (await api.ask(`${path}&format=csv`)).text;
  const wide = (await api.ask(`${path}&format=csv&layout=wide`)).text;
  return { rates, pages, csv, wide };
}

function dates(startDate: string, endDate: string) {
  return { startDate, endDate };
}

function flat(price: number): [number, number, number, number] {
  return [price, price, price, price];
}

function row(
  time: string,
  [open, high, low, close]: [number, number, number, number],
  average: number,
  count: number,
) {
  return { date: `2024-05-15T${time}:00Z`, symbol: 'XAU', open, high, low, close, average, count };
}
