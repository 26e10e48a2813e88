import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parseDay, printDay, weekday } from '../../../src/market/day.ts';
import { apiOn } from '../../support/api.ts';
import { newFolder, onEachEngine } from '../../support/ledger.ts';

/** Forty years of weekdays. The highest price is in the last year, the lowest is negative. */
function fortyYears(): Record<string, [number, number, number, number]> {
  const bars: Record<string, [number, number, number, number]> = {};
  for (let day = parseDay('1984-05-15')!; day <= parseDay('2024-05-14')!; day++) {
    if (weekday(day) === 0 || weekday(day) === 6) continue;
    const price = 20 + ((day * 7) % 9_973) / 100;
    bars[printDay(day)] = [price, price + 1, price - 0.5, price + 0.25];
  }
  bars['2020-04-20'] = [18, 18, -40.32, -37.63];
  bars['2023-09-27'] = [93.1, 145.07, 93.1, 93.68];
  return bars;
}

/** The first Python that has pandas: the one on the path may differ from the system's. */
const PYTHON = ['python3', '/usr/bin/python3'].find(
  (python) => Bun.which(python) && Bun.spawnSync([python, '-c', 'import pandas']).success,
);

async function run(command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect({ exitCode: await child.exited, err }).toMatchObject({ exitCode: 0 });
  return out.trim();
}

onEachEngine(
  'forty years of a symbol, read in one call, have every row and the highest high of the ledger',
  (engine) => {
    const BARS = fortyYears();
    const api = apiOn(engine, {}, ({ service }) => service.publish('WTIOIL-SPOT', BARS));
    const url = (format: string) =>
      `${api.service.url}/rates/history?symbols=WTIOIL-SPOT&startDate=1984-01-01&endDate=2024-12-31&format=${format}&apiKey=${api.key}`;

    /** Rows, maximum and last day, from the ledger itself. */
    async function expected(): Promise<[number, number, string]> {
      const [row] = await api.service.ledger.engine
        .read`SELECT count(*) AS n, max(high) AS high, max(day) AS last FROM bar`;
      return [Number(row!.n), Number(row!.high), printDay(Number(row!.last))];
    }

    test.skipIf(!PYTHON)('with pandas (skipped if it is not installed)', async () => {
      for (const read of [
        `read_csv(url('csv'), parse_dates=['date'])`,
        `read_json(url('ndjson'), lines=True)`,
      ]) {
        const call = read.replace(/url\('(\w+)'\)/, (_, format) => JSON.stringify(url(format)));
        const script = `import pandas; d = pandas.${call}; print(len(d), d['high'].max(), str(d['date'].max())[:10])`;
        const [rows, high, last] = (await run([PYTHON!, '-c', script])).split(' ');
        expect([Number(rows), Number(high), last]).toEqual(await expected());
      }
    });

    test.skipIf(!Bun.which('Rscript'))('with R (skipped if it is not installed)', async () => {
      const script = `d <- read.csv(${JSON.stringify(url('csv'))}); cat(nrow(d), max(d$high), max(d$date))`;
      const [rows, high, last] = (await run(['Rscript', '-e', script])).split(' ');
      expect([Number(rows), Number(high), last]).toEqual(await expected());
    });

    test('with DuckDB, which reads the downloaded file', async () => {
      const instance = await DuckDBInstance.create(':memory:');
      const connection = await instance.connect();
      for (const [format, read] of [
        ['csv', 'read_csv'],
        ['ndjson', 'read_json'],
      ] as const) {
        const file = join(newFolder(), `history.${format}`);
        await Bun.write(file, await fetch(url(format)));
        const sql = `SELECT count(*)::INTEGER, max(high), max(date)::VARCHAR FROM ${read}('${file}')`;
        const rows = (await connection.runAndReadAll(sql)).getRows();
        expect(rows).toEqual([await expected()]);
      }
      connection.closeSync();
      instance.closeSync();
    });
  },
);
