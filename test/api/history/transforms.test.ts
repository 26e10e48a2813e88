import { expect, test } from 'bun:test';
import { MS_PER_DAY, parseDay, printDay } from '../../../src/market/day.ts';
import { type Api, apiOn, expectRefusal } from '../../support/api.ts';
import { derivedFrom, meanClose } from '../../support/exact/derived-rows.ts';
import { onEachEngine } from '../../support/ledger.ts';

interface Row {
  date: string;
  symbol: string;
  close: number;
  change?: number;
  percent?: number;
  log?: number;
  index?: number;
  moving?: number;
}

/** Twelve years of weekdays, in cents. */
function closesOf(seed: number): Record<string, number> {
  const closes: Record<string, number> = {};
  for (let day = parseDay('2012-01-02')!; day <= parseDay('2024-05-14')!; day++) {
    if ((day + 4) % 7 !== 0 && (day + 4) % 7 !== 6)
      closes[printDay(day)] = (((day * seed) % 99_991) + 100) / 100;
  }
  return closes;
}

const GOLD = closesOf(7_919);
const SILVER = closesOf(104_729);
const RANGE = 'startDate=2014-01-01&endDate=2024-05-14';

async function allRows(api: Api, path: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await api.ask(path + cursor);
    expect(status).toBe(200);
    rows.push(...(body.rates as Row[]));
    if (body.next === null) return rows;
    cursor = `&cursor=${body.next}`;
  }
}

/** The last close of each month. */
function monthly(closes: Record<string, number>): [string, number][] {
  const months = new Map<string, number>();
  for (const [date, close] of Object.entries(closes)) months.set(date.slice(0, 7), close);
  return [...months];
}

onEachEngine('transforms of history', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', GOLD);
    await service.publish('XAG', SILVER);
    const wti = { '2020-04-16': 19.82, '2020-04-17': 18.31, '2020-04-20': -36.98, '2020-04-21': 8.91 };
    await service.publish('WTIOIL-SPOT', { '2020-02-03': 50, ...wti });
    await service.publish('EUR/USD', { '2024-05-01': 1.25 });
  });
  const oil = (rest: string) =>
    `/rates/history?symbols=WTIOIL-SPOT&startDate=2020-04-16&endDate=2020-04-30&metadata=false&${rest}`;
  const field = async (path: string, name: keyof Row) =>
    ((await api.ask(path)).body.rates as Row[]).map((row) => row[name]);

  test('a change is exact, and uses the price before the range', async () => {
    expect(await field(oil('transform=change'), 'change')).toEqual([-30.18, -1.51, -55.29, 45.89]);
    expect(await field(oil('transform=change&period=2'), 'change')).toEqual([undefined, -31.69, -56.8, -9.4]);
  });

  test('a percentage is relative to the size of the earlier price, also of a negative one', async () => {
    expect(await field(oil('transform=percent'), 'percent')).toEqual([-60.36, -7.6186, -301.9661, 124.0941]);
  });

  test('a logarithm is absent where a price is not positive, and an index is 100 at the first row', async () => {
    expect(await field(oil('transform=log'), 'log')).toEqual([
      -0.9253314765,
      -0.0792441702,
      undefined,
      undefined,
    ]);
    expect(await field(oil('transform=index'), 'index')).toEqual([100, 92.3814, -186.5792, 44.9546]);
  });

  test('a moving average begins when there are enough closes', async () => {
    expect(await field(oil('moving=3'), 'moving')).toEqual([undefined, 29.38, 0.38, -3.25]);
  });

  test('a range that begins after the last price of an interval compares with that interval', async () => {
    const from = (date: string, rest: string) =>
      oil(rest).replace('startDate=2020-04-16', `startDate=${date}`);
    const saturday = from('2020-04-18', 'interval=week&transform=change&moving=2');
    expect(await field(saturday, 'change')).toEqual([-9.4]);
    expect(await field(saturday, 'moving')).toEqual([13.61]);
    expect(await field(`${saturday}&asOf=2024-05-15T16:00:00Z`, 'moving')).toEqual([13.61]);
    expect((await api.ask(`${saturday}&format=csv`)).text).toEndWith(',test,-9.4,13.61,-14.04,2\r\n');
    const february = from('2020-02-10', 'interval=month&transform=change&period=2');
    expect(await field(february, 'change')).toEqual([-41.09]);
  });

  test('a field without a value is left out of JSON, empty in CSV and null in NDJSON', async () => {
    const json = await api.ask(oil('transform=change&period=2&moving=3'));
    expect(json.text).toContain('"close":19.82,"average":19.82,"count":1},');
    const csv = (await api.ask(oil('transform=change&period=2&moving=3&format=csv'))).text.split('\r\n');
    expect(csv[0]).toEndWith('source,change,moving,average,count');
    expect(csv[1]).toEndWith(',test,,,19.82,1');
    expect(csv[2]).toEndWith(',test,-31.69,29.38,18.31,1');
    const ndjson = (await api.ask(oil('transform=change&period=2&moving=3&format=ndjson'))).text;
    expect(ndjson).toContain('"change":null,"moving":null,"average":19.82,"count":1}');
  });

  test('year over year compares with the same month a year earlier, on every page and in every format', async () => {
    const path = `/rates/history?symbols=XAU,XAG&${RANGE}&interval=month&transform=percent&period=12`;
    const months = { XAU: monthly(GOLD), XAG: monthly(SILVER) };
    const rows = await allRows(api, path);
    expect(rows).toHaveLength(2 * 125);
    for (const { date, symbol, close, percent } of rows) {
      const closes = months[symbol as 'XAU' | 'XAG'];
      const at = closes.findIndex(([month]) => month === date.slice(0, 7));
      expect(closes[at]![1]).toBe(close);
      expect(percent).toBe(derivedFrom('percent', closes[at - 12]![1], close));
    }
  });

  test('pages, tables and the past have the same derived values as a simple computation', async () => {
    const path = `/rates/history?symbols=XAU,XAG&${RANGE}&transform=index&moving=200`;
    const all = { XAU: Object.entries(GOLD), XAG: Object.entries(SILVER) };
    const rows = await allRows(api, path);
    expect(rows.length).toBeGreaterThan(4_000); // several pages
    for (const { date, symbol, close, index, moving } of rows) {
      const closes = all[symbol as 'XAU' | 'XAG'];
      const at = closes.findIndex(([day]) => day === date);
      const first = closes.find(([day]) => day >= '2014-01-01')![1];
      expect(index).toBe(derivedFrom('index', first, close));
      const last = closes.slice(at - 199, at + 1).map(([, one]) => one);
      expect(moving).toBe(meanClose(last, symbol === 'XAU' ? 2 : 3));
    }
    const table = (await api.ask(`${path}&format=csv`)).text;
    const [head, ...lines] = table.trimEnd().split('\r\n');
    const [index, moving] = ['index', 'moving'].map((name) => head!.split(',').indexOf(name));
    const cells = lines.map((line) => line.split(','));
    expect(cells.map((row) => [row[0], row[1], Number(row[index!]), Number(row[moving!])])).toEqual(
      rows.map((row) => [row.date, row.symbol, row.index!, row.moving!]),
    );
    expect((await api.ask(`${path}&format=csv&asOf=2024-05-15T16:00:00Z`)).text).toBe(table);
  });

  test('a correction before the range changes what is derived from it, and its tag', async () => {
    const path = `/rates/history?symbols=XAG&${RANGE}&transform=change&period=100`;
    const before = await api.ask(path);
    const [day] = Object.keys(SILVER)
      .filter((date) => date < '2014-01-01')
      .slice(-50);
    await api.service.publish('XAG', { [day!]: 5_000 });
    const after = await api.ask(path);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    expect(after.text).not.toBe(before.text);
    await api.service.publish('XAG', { [day!]: SILVER[day!]! });
    expect((await api.ask(path)).text).toBe(before.text);
  });

  test('in another currency, what is derived is derived from the converted closes', async () => {
    const path =
      '/rates/history?symbols=XAU&startDate=2024-05-01&endDate=2024-05-03&quote=EUR&transform=change&moving=2';
    const rows = (await api.ask(path)).body.rates as Row[];
    expect(rows[0]).not.toHaveProperty('change'); // April has no exchange rate
    const [first, second] = rows.map(({ close }) => close);
    expect(rows[1]!.change).toBe(derivedFrom('change', first!, second!));
    expect(rows[1]!.moving).toBe(Number(((first! + second!) / 2).toPrecision(8)));
  });

  test('a conversion by a factor of 1 keeps all digits, of means as of closes', async () => {
    // A dry metric ton is a metric ton.
    await api.service.publish('IORECR', { '2024-05-13': 123456.78912, '2024-05-14': 123456.78914 });
    const range = 'symbols=IORECR&unit=MT&startDate=2024-05-13&endDate=2024-05-14';
    const daily = (await api.ask(`/rates/history?${range}&moving=2`)).body;
    expect(daily.metadata).toMatchObject({ IORECR: { unit: 'MT' } });
    expect((daily.rates as Row[])[1]).toMatchObject({ close: 123456.78914, moving: 123456.78913 });
    const monthly = (await api.ask(`/rates/history?${range}&interval=month`)).body;
    expect((monthly.rates as Row[])[0]).toMatchObject({ average: 123456.78913 });
    const { statistics } = (await api.ask(`/rates/statistics?${range}`)).body;
    expect(statistics).toMatchObject({ IORECR: { mean: 123456.78913, median: 123456.78913 } });
  });

  test('its parameters are validated, and a period without a change is refused', async () => {
    const refused = async (rest: string) => expectRefusal(await api.ask(oil(rest)), 400, 'invalid_parameter');
    expect(await refused('transform=pch')).toContain('one of change, percent, log, index (received "pch")');
    expect(await refused('moving=1')).toContain('a whole number from 2 to 500');
    expect(await refused('moving=501')).toContain('"moving"');
    expect(await refused('transform=change&period=0')).toContain('a whole number from 1 to 500');
    expect(await refused('transform=change&period=1.5')).toContain('"period"');
    expect(await refused('period=12')).toContain('sent with transform=change, percent or log');
    expect(await refused('transform=index&period=12')).toContain('sent with transform');
    expect((await api.ask(oil('transform=CHANGE&moving='))).status).toBe(200);
    const { next } = (await api.ask(`/rates/history?symbols=XAU&${RANGE}&transform=log`)).body;
    const other = await api.ask(`/rates/history?symbols=XAU&${RANGE}&cursor=${next}`);
    expectRefusal(other, 400, 'invalid_cursor');
  });

  test('closes before 1900, the first year that a request can name, count as earlier rows', async () => {
    const { ledger, clock, core } = api.service;
    const symbolId = (await ledger.symbols.list()).find(({ code }) => code === 'CORN')!.id;
    const closes: [string, number][] = [
      ['1850-01-01', 10],
      ['1899-12-30', 19],
      ['1900-01-03', 20],
    ];
    const bars = closes.map(([date, close]) => {
      const day = Date.parse(date) / MS_PER_DAY;
      return { symbolId, day, open: close, high: close, low: close, close };
    });
    await ledger.bars.publish(bars, { source: 'test', recordedAt: clock.time });
    await core.follow();
    const path = '/rates/history?symbols=CORN&startDate=1900-01-01&endDate=1900-01-31';
    const [change] = (await api.ask(`${path}&transform=change`)).body.rates as Row[];
    expect(change).toMatchObject({ close: 20, change: 1 });
    const [moving] = (await api.ask(`${path}&moving=3`)).body.rates as Row[];
    expect(moving).toMatchObject({ close: 20, moving: 16.33 });
    const [none] = (await api.ask(`${path}&moving=4`)).body.rates as Row[];
    expect(none).not.toHaveProperty('moving');
  });
});
