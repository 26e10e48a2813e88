import { expect, test } from 'bun:test';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

/** Bars on most days, with prices derived from the day. */
function history(gap: number, days = 3_000): Record<string, [number, number, number, number]> {
  const last = parseDay('2024-05-14')!;
  const bars: Record<string, [number, number, number, number]> = {};
  for (let day = last - days; day <= last; day++) {
    if (day % gap !== 0) bars[printDay(day)] = [day % 97, (day % 97) + 3, (day % 97) - 2, (day % 97) + 1];
  }
  return bars;
}

interface LongRow {
  date: string;
  symbol: string;
  [field: string]: unknown;
}

const SYMBOLS = ['XAU', 'XAG', 'PL'];
const RANGE = 'startDate=2010-01-01&endDate=2024-05-14';

onEachEngine('layout=wide', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const [i, code] of SYMBOLS.entries()) await service.publish(code, history(i + 3));
    await service.publish('CORN', { '2024-05-13': 450, '2024-05-14': 455.5 });
    await service.publish('TIN', { '2024-05-14': 680 });
  });
  const path = (rest: string) => `/rates/history?symbols=${SYMBOLS}&${RANGE}&${rest}`;
  const rowsOf = async (rest: string): Promise<LongRow[]> => {
    const { status, text } = await api.ask(path(`format=ndjson&${rest}`));
    expect(status).toBe(200);
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };

  test('has one row per date and one column per symbol, in the order requested', async () => {
    const short = '/rates/history?symbols=tin,CORN&startDate=2024-05-01&endDate=2024-05-14&layout=wide';
    expect((await api.ask(`${short}&format=csv`)).text).toBe(
      'date,TIN,CORN\r\n2024-05-13,,450\r\n2024-05-14,680,455.5\r\n',
    );
    expect((await api.ask(`${short}&format=ndjson`)).text).toBe(
      '{"date":"2024-05-13","TIN":null,"CORN":450}\n{"date":"2024-05-14","TIN":680,"CORN":455.5}\n',
    );
    const none = '/rates/history?symbols=TIN&startDate=2001-01-01&endDate=2001-12-31&layout=wide&format=csv';
    expect((await api.ask(none)).text).toBe('date,TIN\r\n');
  });

  for (const rest of ['', 'interval=month&field=average', 'interval=week&field=high', 'transform=percent']) {
    test(`has the cells of the long layout: ${rest || 'closes'}`, async () => {
      const field = /field=(\w+)|transform=(\w+)/.exec(rest);
      const name = field?.[1] ?? field?.[2] ?? 'close';
      const cells = new Map<string, LongRow>();
      for (const row of await rowsOf(rest.replace(/&?field=\w+/, ''))) {
        const wide = cells.getOrInsertComputed(
          row.date,
          () =>
            ({
              date: row.date,
              ...Object.fromEntries(SYMBOLS.map((code) => [code, null])),
            }) as unknown as LongRow,
        );
        wide[row.symbol] = row[name];
      }
      expect(await rowsOf(`layout=wide&${rest}`)).toEqual([...cells.values()]);
      expect(await rowsOf(`layout=wide&${rest}&asOf=2024-05-15T16:00:00Z`)).toEqual([...cells.values()]);
    });
  }

  test('costs one unit per started 2,000 cells, from memory and from the ledger', async () => {
    await api.service.setPlan({ name: 'counted', quota: 1_000 });
    for (const rest of ['', '&asOf=2024-05-15T16:00:00Z']) {
      const key = await api.service.key('counted');
      const { text } = await api.ask(path(`layout=wide&format=csv${rest}`), { key });
      const dates = text.trimEnd().split('\r\n').length - 1;
      expect((await api.ask('/usage', { key })).body.used).toBe(Math.ceil((dates * 3) / 2_000));
    }
  });

  test('costs as much if few of its cells have a value', async () => {
    await api.service.publish('ZINC', history(10_000, 800));
    const sparse = '/rates/history?symbols=ZINC,CORN,TIN&startDate=2010-01-01&endDate=2024-05-14&layout=wide';
    for (const rest of ['', '&asOf=2024-05-15']) {
      for (const format of ['csv', 'ndjson', 'parquet']) {
        const key = await api.service.key('unlimited');
        const url = `${sparse}&format=${format}${rest}`;
        const planned = (await api.ask(`${url}&dryRun=true`, { key })).body;
        expect([url, planned.cost]).toEqual([url, rest === '' ? 2 : 1]);
        const { status, text } = await api.ask(url, { key });
        if (format === 'csv') expect(text.trimEnd().split('\r\n')).toHaveLength(1 + 801);
        const { used } = (await api.ask('/usage', { key })).body;
        expect([url, status, used]).toEqual([url, 200, 2]); // 2,403 cells
      }
    }
  });

  test('a tag covers the layout and the field', async () => {
    const tags = new Set<string>();
    for (const rest of ['', 'layout=wide', 'layout=wide&field=open', 'layout=wide&moving=5']) {
      tags.add((await api.ask(path(`format=csv&${rest}`))).headers.get('etag')!);
    }
    expect(tags.size).toBe(4);
  });

  test('its parameters are validated, and a field without it is refused', async () => {
    const refused = async (rest: string) =>
      expectRefusal(await api.ask(path(rest)), 400, 'invalid_parameter');
    expect(await refused('layout=wide')).toContain('format=csv, ndjson or parquet');
    expect(await refused('layout=tall&format=csv')).toContain('one of long, wide');
    expect(await refused('field=close&format=csv')).toContain('layout=wide');
    expect(await refused('layout=wide&format=csv&field=percent')).toContain(
      'one of open, high, low, close, average',
    );
    for (const rest of [
      'transform=percent&moving=5',
      'moving=5&field=average',
      'interval=hour&moving=5&field=open',
    ]) {
      expect(await refused(`layout=wide&format=csv&${rest}`)).toContain('"moving" must be left out');
    }
    expect(await refused('layout=wide&format=csv&transform=log&moving=5&field=moving')).toContain(
      '"transform"',
    );
    expect((await api.ask(path('layout=long'))).status).toBe(200);
    expect(
      (await api.ask(`/rates/time-series?symbols=XAU&startDate=2024-05-01&endDate=2024-05-02&layout=wide`))
        .body,
    ).toMatchObject({ warnings: ['The parameter "layout" has no effect on /rates/time-series.'] });
  });
});
