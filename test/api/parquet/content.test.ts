import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { parseDay, printDay, weekday } from '../../../src/market/day.ts';
import { apiOn } from '../../support/api.ts';
import { duckdb } from '../../support/duckdb.ts';
import { onBunServe } from '../../support/http-server.ts';
import { newFolder, onEachEngine } from '../../support/ledger.ts';

const CODES = ['XAU', 'WTIOIL-FUT', 'CORN'];
const SPAN = 'startDate=1984-01-01&endDate=2024-12-31';

/** Forty years of weekdays, with a negative close. */
function fortyYears(seed: number): Record<string, [number, number, number, number]> {
  const bars: Record<string, [number, number, number, number]> = {};
  for (let day = parseDay('1984-05-15')!; day <= parseDay('2024-05-14')!; day++) {
    if (weekday(day) === 0 || weekday(day) === 6) continue;
    const cents = 2_000 + ((day * seed) % 9_973);
    bars[printDay(day)] = [cents / 100, cents / 100 + 1, cents / 100 - 0.5, (cents + 1) / 100];
  }
  bars['2020-04-20'] = [18, 18, -40.32, -37.63];
  return bars;
}

/** The price in hundredths, exactly. */
const hundredths = (price: unknown) => BigInt(Math.round(Number(price) * 100));

onEachEngine('a Parquet file', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const [i, code] of CODES.entries()) await service.publish(code, fortyYears(7 + i));
  });

  async function download(path: string): Promise<string> {
    const response = await api.service.get(path, api.key);
    expect({ path, status: response.status }).toEqual({ path, status: 200 });
    expect(response.headers.get('content-type')).toBe('application/vnd.apache.parquet');
    const file = join(newFolder(), 'table.parquet');
    const length = await Bun.write(file, await response.arrayBuffer());
    if (!onBunServe) expect(response.headers.get('content-length')).toBe(String(length));
    return file;
  }

  /** The rows of the same table as CSV, as DuckDB reads it. */
  async function csvRows(path: string, types: string): Promise<unknown[][]> {
    const file = join(newFolder(), 'table.csv');
    await Bun.write(file, (await api.ask(path)).text);
    return duckdb(`SELECT * FROM read_csv('${file}', types = ${types})`);
  }

  test('of forty years has the rows and the sums of the ledger, exactly', async () => {
    const file = await download(`/rates/history?symbols=${CODES}&${SPAN}&format=parquet`);
    const rows = await api.service.ledger.engine.read`SELECT high, low, close FROM bar`;
    const sums = await duckdb(
      `SELECT count(*)::INTEGER, ${['high', 'low', 'close'].map((name) => `(sum(${name}::DECIMAL(18, 2)) * 100)::BIGINT::VARCHAR`)} FROM '${file}'`,
    );
    const sumOf = (name: string) =>
      String(rows.reduce((sum, row) => sum + hundredths(row[name as never]), 0n));
    expect(rows.length).toBeGreaterThan(31_000);
    expect(sums).toEqual([[rows.length, sumOf('high'), sumOf('low'), sumOf('close')]]);
    const columns = await duckdb(
      `SELECT column_name || ' ' || column_type FROM (DESCRIBE SELECT * FROM '${file}')`,
    );
    expect(columns.flat().join(', ')).toBe(
      'date DATE, symbol VARCHAR, open DOUBLE, high DOUBLE, low DOUBLE, close DOUBLE, unit VARCHAR, quote VARCHAR, factor DOUBLE, source VARCHAR, average DOUBLE, count BIGINT',
    );
  });

  test('as of a moment is that of its endpoint, not of another one with the same parameters', async () => {
    const query = 'symbols=XAU&startDate=2024-05-01&endDate=2024-05-14&asOf=2024-05-15';
    const columns: unknown[] = [];
    for (const name of ['history', 'time-series', 'fluctuation', 'statistics']) {
      const file = await download(`/rates/${name}.parquet?${query}`);
      columns.push(await duckdb(`SELECT column_name FROM (DESCRIBE SELECT * FROM '${file}') LIMIT 12`));
    }
    expect(new Set(columns.map((names) => String(names))).size).toBe(4);
  });

  const PATHS = [
    `/rates/history?symbols=XAU,CORN&${SPAN}&interval=month&transform=percent&moving=3`,
    `/rates/history?symbols=XAU,CORN&${SPAN}&layout=wide&field=average&interval=week`,
    `/rates/history?symbols=XAU,CORN,{XAU}*2-{CORN}&startDate=2024-05-01&endDate=2024-05-14&layout=wide`,
    `/rates/history?symbols=XAU&startDate=2024-05-01&endDate=2024-05-14&asOf=2024-05-15`,
    `/rates/history?symbols=XAU,CORN&${SPAN}&asOf=2024-05-15`,
    '/rates/history?symbols=XAU&startDate=2024-05-11&endDate=2024-05-12',
    `/rates/statistics?symbols=XAU,CORN&${SPAN}`,
    '/rates/statistics?symbols=XAU,CORN&startDate=2024-05-01&endDate=2024-05-14',
    '/symbols?',
    '/rates/latest?symbols=XAU,CORN',
    '/rates/historical?symbols=XAU&date=2020-04-20',
    '/rates/time-series?symbols=XAU&startDate=2024-05-01&endDate=2024-05-14',
    '/rates/fluctuation?symbols=XAU&startDate=2024-05-01&endDate=2024-05-14',
    '/rates/revisions?symbols=XAU&startDate=2024-05-01&endDate=2024-05-14',
  ];

  test('has the same rows as CSV, on every path', async () => {
    for (const path of PATHS) {
      const file = await download(`${path}&format=parquet`);
      const described = await duckdb(
        `SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${file}')`,
      );
      const types = `{${described.map(([name, type]) => `'${name}': '${type}'`)}}`;
      const rows = await duckdb(`SELECT * FROM '${file}'`);
      expect(described.length).toBeGreaterThan(1);
      expect({ path, rows }).toEqual({ path, rows: await csvRows(`${path}&format=csv`, types) });
    }
  });
});
