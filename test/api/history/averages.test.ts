import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { INTERVALS, type Interval } from '../../../src/market/interval.ts';
import { type Api, apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

/** WTI spot as the EIA publishes it. Its own monthly average for April 2020 is 16.55. */
const WTI: Record<string, number> = {
  '2020-03-31': 20.51,
  '2020-04-01': 20.28,
  '2020-04-02': 25.18,
  '2020-04-03': 28.36,
  '2020-04-06': 26.21,
  '2020-04-07': 23.54,
  '2020-04-08': 24.97,
  '2020-04-09': 22.9,
  '2020-04-13': 22.36,
  '2020-04-14': 20.15,
  '2020-04-15': 19.96,
  '2020-04-16': 19.82,
  '2020-04-17': 18.31,
  '2020-04-20': -36.98,
  '2020-04-21': 8.91,
  '2020-04-22': 13.64,
  '2020-04-23': 15.06,
  '2020-04-24': 15.99,
  '2020-04-27': 12.17,
  '2020-04-28': 12.4,
  '2020-04-29': 15.04,
  '2020-04-30': 19.23,
  '2020-05-01': 19.72,
};

type Prices = [number, number, number, number];

/** Forty years of weekdays, in whole cents. */
function longHistory(seed: number): Record<string, Prices> {
  const bars: Record<string, Prices> = {};
  let state = seed;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (let day = parseDay('1984-01-02')!; day <= parseDay('2024-05-14')!; day++) {
    if ((day + 4) % 7 === 0 || (day + 4) % 7 === 6 || random(40) === 0) continue;
    const cents = random(20_000) - 2_000;
    const [open, close] = [cents + random(90), cents + random(90)];
    const prices = [open, Math.max(open, close) + random(9), Math.min(open, close) - random(9), close];
    bars[printDay(day)] = prices.map((price) => price / 100) as Prices;
  }
  return bars;
}

const HISTORIES = { XAU: longHistory(1), XAG: longHistory(2) };
/** As the catalogue has them. */
const DECIMALS = { XAU: 2, XAG: 3 };

/** The first day of the interval that contains `day`, in SQLite's own date functions. */
const START: Readonly<Record<Interval, string>> = {
  day: 'day',
  week: "date(day, 'weekday 0', '-6 days')",
  month: "date(day, 'start of month')",
  quarter: "date(day, 'start of month', '-' || ((strftime('%m', day) - 1) % 3) || ' months')",
  year: "date(day, 'start of year')",
};

/** Resamples with SQL, in whole cents. The average is rounded half away from zero to the decimals of the symbol. */
function resampled(interval: Interval): unknown[] {
  const database = new Database(':memory:');
  database.run('CREATE TABLE bar (symbol TEXT, day TEXT, open INT, high INT, low INT, close INT)');
  database.run('CREATE TABLE unit (symbol TEXT, perCent INT)');
  for (const [symbol, decimals] of Object.entries(DECIMALS)) {
    database.run('INSERT INTO unit VALUES (?, ?)', [symbol, 10 ** (decimals - 2)]);
  }
  const insert = database.prepare('INSERT INTO bar VALUES (?, ?, ?, ?, ?, ?)');
  database.transaction(() => {
    for (const [symbol, bars] of Object.entries(HISTORIES)) {
      for (const [day, prices] of Object.entries(bars)) {
        const [open, high, low, close] = prices.map((price) => Math.round(price * 100));
        insert.run(symbol, day, open!, high!, low!, close!);
      }
    }
  })();
  return database
    .query(
      `WITH part AS (SELECT *, ${START[interval]} AS start FROM bar),
        whole AS (SELECT symbol, start, min(day) AS first, max(day) AS last, max(high) AS high, min(low) AS low,
          count(*) AS n, sum(close) AS total FROM part GROUP BY symbol, start)
      SELECT start AS date, whole.symbol, a.open / 100.0 AS open, whole.high / 100.0 AS high, whole.low / 100.0 AS low,
        z.close / 100.0 AS close, sign(total) * ((2 * abs(total) * perCent + n) / (2 * n)) / (100.0 * perCent) AS average, n AS count
      FROM whole JOIN unit ON unit.symbol = whole.symbol JOIN bar a ON a.symbol = whole.symbol AND a.day = first JOIN bar z ON z.symbol = whole.symbol AND z.day = last
      ORDER BY start, whole.symbol DESC`,
    )
    .all();
}

async function rowsOf(api: Api, path: string): Promise<unknown[]> {
  const { text } = await api.ask(`${path}&format=ndjson`);
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => {
    const { unit, quote, factor, source, ...row } = JSON.parse(line);
    return row;
  });
}

onEachEngine('averages', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('WTIOIL-SPOT', WTI);
    for (const [code, bars] of Object.entries(HISTORIES)) await service.publish(code, bars);
    await service.publish('EUR/USD', {
      '2020-04-01': 1.0936,
      '2020-04-09': 1.0867,
      '2020-04-20': 1.086,
      '2020-04-27': 1.0877,
    });
  });
  const path = (rest: string) => `/rates/history?symbols=WTIOIL-SPOT&${rest}`;
  const april = 'startDate=2020-04-01&endDate=2020-04-30';

  test('the average of WTI for April 2020 is the 16.55 that the EIA publishes, of 21 days', async () => {
    const { body } = await api.ask(path('startDate=2020-03-01&endDate=2020-05-31&interval=month'));
    expect((body.rates as unknown[])[1]).toEqual({
      date: '2020-04-01',
      symbol: 'WTIOIL-SPOT',
      open: 20.28,
      high: 28.36,
      low: -36.98,
      close: 19.23,
      average: 16.55,
      count: 21,
    });
  });

  test('average and count are the last fields of a row, in every format', async () => {
    const json = await api.ask(path(`${april}&interval=quarter&metadata=false`));
    expect(json.text).toContain('"close":19.23,"average":16.55,"count":21}]');
    const csv = await api.ask(path(`${april}&interval=quarter&format=csv`));
    expect(csv.text.split('\r\n')).toEqual([
      'date,symbol,open,high,low,close,unit,quote,factor,source,average,count',
      '2020-04-01,WTIOIL-SPOT,20.28,28.36,-36.98,19.23,Bbl,USD,1,test,16.55,21',
      '',
    ]);
    const ndjson = await api.ask(path(`${april}&interval=quarter&format=ndjson`));
    expect(ndjson.text).toEndWith('"source":"test","average":16.55,"count":21}\n');
    const past = await api.ask(path(`${april}&interval=quarter&format=csv&asOf=2024-05-15T16:00:00Z`));
    expect(past.text).toBe(csv.text);
  });

  test('the average of a day is its close, of one close', async () => {
    const { body } = await api.ask(path('startDate=2020-04-09&endDate=2020-04-09'));
    expect((body.rates as unknown[])[0]).toMatchObject({ close: 22.9, average: 22.9, count: 1 });
  });

  test('a converted average is the mean of the converted closes, with 8 digits', async () => {
    const of = async (interval: string) =>
      (await api.ask(path(`${april}&quote=EUR&interval=${interval}`))).body.rates as {
        close: number;
        average: number;
      }[];
    const days = await of('day');
    const [month] = await of('month');
    const exact = days.reduce((sum, { close }) => sum + BigInt(Math.round(close * 1e9)), 0n);
    expect(month!.average).toBe(Number((Number(exact) / 21 / 1e9).toPrecision(8)));
    const own = (await api.ask(path(`${april}&quote=USD&interval=month`))).body.rates as unknown[];
    expect(own[0]).toMatchObject({ average: 16.55, count: 21 });
  });

  for (const interval of INTERVALS) {
    test(`forty years of two symbols by ${interval} equal an independent implementation in SQL`, async () => {
      const all = 'symbols=XAU,XAG&startDate=1984-01-01&endDate=2024-05-15';
      const rows = await rowsOf(api, `/rates/history?${all}&interval=${interval}`);
      expect(rows).toEqual(resampled(interval));
      if (interval === 'day') expect(rows.length).toBeGreaterThan(14_000);
    });
  }
});
