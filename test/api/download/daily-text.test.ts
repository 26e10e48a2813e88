import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { dailyText } from '../../../src/api/history/daily/daily-text.ts';
import { intervalTable } from '../../../src/api/history/interval-table.ts';
import { AVERAGES, NO_FIELDS } from '../../../src/api/history/row-fields.ts';
import type { LongTable } from '../../../src/api/model/long-table.ts';
import { tableWriter } from '../../../src/api/model/table.ts';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const CODES = ['XAU', 'XAG', 'CORN'] as const;
const FIRST = parseDay('2014-05-15')!;
const LAST = parseDay('2024-05-14')!;

/** Bars with prices of many forms, some of them equal, from two sources. */
function daily(seed: number, gap: number): Record<string, [number, number, number, number]> {
  const bars: Record<string, [number, number, number, number]> = {};
  for (let day = FIRST; day <= LAST; day++) {
    if (day % gap === 0) continue;
    const price = ((day * seed) % 9_973) / 10 ** (day % 5) - 3;
    bars[printDay(day)] = [price, price + (day % 3), price - (day % 2), day % 4 === 0 ? price + 1e-7 : price];
  }
  return bars;
}

onEachEngine('daily bars as text', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const [i, code] of CODES.entries()) {
      await service.publish(code, daily(7 + i, 5 + i), i === 1 ? 'a, "b"' : 'test');
    }
    await service.publish('XAU', { '2020-04-20': -37.63 }, '=cmd');
    await service.tick('XAU', 2400.5); // the last day is not settled
  });

  test('are the same text, written from columns or cell by cell, from any cursor, also after a correction', async () => {
    const { board } = api.service.core;
    const symbols = CODES.map((code) => ({ code, series: board.catalog.find(code)! }));
    const series = symbols.map((one) => one.series);
    const property = fc.asyncProperty(
      fc.integer({ min: FIRST - 50, max: LAST - 2_500 }),
      fc.integer({ min: 2_000, max: 4_000 }),
      fc.nat(400),
      fc.nat(2),
      fc.constantFrom(AVERAGES, NO_FIELDS),
      fc.constantFrom('csv', 'ndjson'),
      fc.boolean(),
      fc.option(fc.integer({ min: FIRST, max: LAST }), { nil: undefined }),
      async (first, days, offset, symbolIndex, fields, format, isOne, corrected) => {
        await board.ready(series, 'all', api.service.clock.now());
        const table = intervalTable({
          board,
          symbols: isOne ? symbols.slice(0, 1) : symbols,
          prices: board.view(0),
          span: { first, last: first + days, interval: 'day' },
          from: { day: first + offset, symbolIndex: isOne ? 0 : symbolIndex },
          fields,
          unitsOf: () => 1,
          render: dailyText,
        }) as LongTable;
        const { body } = tableWriter(format);
        const expected = [...table.pieces()].map((rows) => body(table.columns, rows)).join('');
        let text = '';
        let rows = 0;
        for (const piece of table.rendered!(format).pieces()) {
          if (text === '' && corrected !== undefined) {
            await api.service.publish('XAU', { [printDay(corrected)]: corrected / 16 });
          }
          text += Buffer.from(piece.bytes).toString();
          rows += piece.rows;
        }
        expect(text).toBe(expected);
        expect(rows).toBe(await table.count());
        const ready = table.rendered!(format).ready();
        if (ready) expect(Buffer.concat(ready.map(({ bytes }) => bytes)).toString()).toBe(expected);
        if (corrected === undefined) expect(ready !== undefined).toBe(isOne);
      },
    );
    await fc.assert(property, { numRuns: 25 });
  });

  test('of a formula beside a symbol, and in another currency, have the rows that NDJSON has', async () => {
    const range = 'startDate=2014-01-01&endDate=2024-05-15';
    for (const query of [`symbols=XAU,{XAU}/{XAG},XAG&${range}`, `symbols=XAU,CORN&quote=USX&${range}`]) {
      const csv = (await api.ask(`/rates/history.csv?${query}`)).text;
      const ndjson = (await api.ask(`/rates/history.ndjson?${query}`)).text;
      const rows = ndjson.trimEnd().split('\n');
      const cells = rows.map((row) => Object.values(JSON.parse(row) as Record<string, unknown>).slice(0, 6));
      const lines = csv.trimEnd().split('\r\n').slice(1);
      expect(cells.length).toBeGreaterThan(3_000);
      expect(lines.map((line) => line.split(',').slice(0, 6))).toEqual(cells.map((row) => row.map(String)));
    }
  });

  test('of one symbol are sent with their length once its lines are in memory, for any range, and are rendered again after a correction', async () => {
    const { service } = api;
    const download = async (startDate: string, format: string) => {
      const path = `/rates/history.${format}?symbols=PL&startDate=${startDate}&endDate=2024-05-14`;
      const response = await service.get(path, api.key, { headers: { 'accept-encoding': 'identity' } });
      const text = await response.text();
      const length = response.headers.get('content-length');
      if (length !== null) expect(Number(length)).toBe(text.length);
      return { lines: text.trimEnd().split('\n'), hasLength: length !== null };
    };
    await service.publish('PL', daily(11, 6));
    for (const format of ['csv', 'ndjson']) {
      const first = await download('2014-01-01', format);
      expect(first.hasLength).toBe(false);
      for (const startDate of ['2014-01-01', '2015-05-13', '2019-01-02']) {
        const { lines, hasLength } = await download(startDate, format);
        expect(hasLength).toBe(true);
        const isIncluded = (line: string) => line.slice(format === 'csv' ? 0 : 9).slice(0, 10) >= startDate;
        expect(lines).toEqual(first.lines.filter(isIncluded));
      }
    }
    await service.publish('PL', { '2018-05-14': 123.456 });
    for (const isFirst of [true, false]) {
      const { lines, hasLength } = await download('2015-01-01', 'csv');
      expect(hasLength).toBe(!isFirst);
      expect(lines.find((line) => line.startsWith('2018-05-14'))).toStartWith('2018-05-14,PL,123.456,');
    }
  });

  test('are sent from the cache from the third download on, and are rendered again after a correction', async () => {
    const { service } = api;
    const path = '/rates/history.csv?symbols=XAG,CORN&startDate=2014-01-01&endDate=2024-05-14';
    const entries = async () => {
      const text = await (await service.get('/metrics')).text();
      return Number(/openpit_cache_entries\{cache="tables"\} (\d+)/.exec(text)![1]);
    };
    const before = await entries();
    const texts: string[] = [];
    for (let i = 0; i < 4; i++) texts.push((await api.ask(path)).text);
    expect(new Set(texts).size).toBe(1);
    expect(await entries()).toBe(before + 1);
    await service.publish('CORN', { '2018-05-14': 123.456 });
    const { text } = await api.ask(path);
    expect(text).toContain('2018-05-14,CORN,123.456,');
    expect((await api.ask(path)).text).toBe(text);
  });
});
