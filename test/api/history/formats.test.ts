import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json, type Reply } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { CATALOGUE_SIZE, LISTED_SIZE } from '../../support/responses/catalogue.ts';

const CSV = { accept: 'text/csv' };
const DAY = '/rates/historical?symbols=XAU,CORN&date=2024-05-14';
const RANGE = 'startDate=2024-05-13&endDate=2024-05-14';
const PATHS = [
  '/symbols?',
  '/rates/latest?symbols=XAU,CORN',
  DAY,
  `/rates/time-series?symbols=XAU,CORN&${RANGE}`,
  `/rates/fluctuation?symbols=XAU&${RANGE}`,
  `/rates/history?symbols=XAU,CORN&${RANGE}&interval=week`,
  '/rates/revisions?symbols=XAU,CORN&date=2024-05-13',
];

const lines = ({ text }: Reply) => text.split('\r\n').slice(0, -1);
const objects = ({ text }: Reply): Json[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

onEachEngine('formats', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', {
      '2024-05-13': [2360.1, 2361, 2332.2, 2336.1],
      '2024-05-14': [2336.1, 2359.9, 2335, 2358.2],
    });
    await service.publish('CORN', { '2024-05-14': [472, 473.5, 466.25, 467.25] }, 'CBOT');
    await service.publish('WTIOIL-FUT', { '2020-04-20': [17.73, 17.85, -40.32, -37.63] });
  });

  const TABLES: [path: string, rows: string[]][] = [
    [
      '/rates/latest?symbols=XAU,gold',
      [
        'symbol,rate,unit,quote,factor,at,source,stale',
        'XAU,2358.2,T.oz,USD,1,2024-05-14,test,false',
        'GOLD,2358.2,T.oz,USD,1,2024-05-14,test,false',
      ],
    ],
    [
      '/rates/historical?symbols=WTIOIL-FUT&date=2020-04-22',
      [
        'date,symbol,open,high,low,close,unit,quote,factor,barDate,source',
        '2020-04-22,WTIOIL-FUT,17.73,17.85,-40.32,-37.63,Bbl,USD,1,2020-04-20,test',
      ],
    ],
    [
      `/rates/time-series?symbols=XAU,CORN&${RANGE}`,
      [
        'date,symbol,open,high,low,close,unit,quote,factor,source',
        '2024-05-13,XAU,2360.1,2361,2332.2,2336.1,T.oz,USD,1,test',
        '2024-05-14,XAU,2336.1,2359.9,2335,2358.2,T.oz,USD,1,test',
        '2024-05-14,CORN,472,473.5,466.25,467.25,Bu,USX,1,CBOT',
      ],
    ],
    [
      `/rates/fluctuation?symbols=XAU&${RANGE}`,
      [
        'symbol,startDate,endDate,startRate,endRate,change,changePercent,unit,quote,startFactor,endFactor,startBarDate,endBarDate,source',
        'XAU,2024-05-13,2024-05-14,2336.1,2358.2,22.1,0.946,T.oz,USD,1,1,2024-05-13,2024-05-14,test',
      ],
    ],
    [
      `/rates/history?symbols=XAU&${RANGE}&interval=month&quote=USX&unit=T.oz`,
      [
        'date,symbol,open,high,low,close,unit,quote,factor,source,average,count',
        '2024-05-01,XAU,236010,236100,233220,235820,T.oz,USX,100,test,234715,2',
      ],
    ],
  ];
  for (const [path, rows] of TABLES) {
    test(`${path} as CSV`, async () => {
      const reply = await api.ask(`${path}&format=csv`);
      expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(lines(reply)).toEqual(rows);
      expect((await api.ask(path, { headers: CSV })).text).toBe(reply.text);
    });
  }

  test('symbols and revisions as CSV', async () => {
    const symbols = lines(await api.ask('/symbols?format=csv'));
    expect(symbols).toHaveLength(LISTED_SIZE + 1);
    expect(symbols[0]).toBe(
      'symbol,category,name,currency,currencyName,currencySymbol,unit,unitName,status,updateInterval,firstDate,lastDate,formula',
    );
    expect(symbols).toContain(
      'CORN,Agriculture,Corn,USX,US Cent,¢,Bu,Bushel,active,minute,2024-05-14,2024-05-14,',
    );
    expect(symbols.find((line) => line.startsWith('ZWHRW,'))).toContain(',"Wheat, US Hard Red Winter",');
    const [header, row] = lines(await api.ask('/rates/revisions?symbols=XAU&date=2024-05-14&format=csv'));
    expect(header).toBe(
      'date,symbol,revision,open,high,low,close,unit,quote,source,recordedAt,reason,withdrawn',
    );
    expect(row).toMatch(
      /^2024-05-14,XAU,\d+,2336\.1,2359\.9,2335,2358\.2,T\.oz,USD,test,2024-05-15T16:00:00\.000Z,,false$/,
    );
  });

  for (const path of PATHS) {
    test(`${path} says the same in all three formats, each with a tag of its own`, async () => {
      const [json, csv, ndjson] = [
        await api.ask(`${path}&format=json`),
        await api.ask(`${path}&format=csv`),
        await api.ask(`${path}&format=ndjson`),
      ];
      expect(json.body.success).toBe(true);
      expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
      const [header, ...rows] = lines(csv);
      const records = objects(ndjson);
      expect(records.length).toBe(rows.length);
      expect(rows.length).toBeGreaterThan(0);
      for (const record of records) expect(Object.keys(record).join(',')).toBe(header!);
      // Every number of the JSON response is in a row.
      const numbers = new Set(records.flatMap((one) => Object.values(one)));
      for (const number of numbersIn(json.body.rates ?? {})) expect(numbers).toContain(number);
      const tags = [json, csv, ndjson].map(({ headers }) => headers.get('etag'));
      expect(new Set(tags).size).toBe(3);
      const again = await api.ask(`${path}&format=csv`, { headers: { 'if-none-match': tags[1]! } });
      expect(again.status).toBe(304);
      const other = await api.ask(`${path}&format=ndjson`, { headers: { 'if-none-match': tags[1]! } });
      expect(other.status).toBe(200);
    });

    test(`${path} without a format is JSON, also after it was asked for as CSV, and the other way round`, async () => {
      const plain = await api.ask(path);
      const withAccept = (accept: string) => api.ask(path, { headers: { accept } });
      for (let turn = 0; turn < 2; turn++) {
        expect((await withAccept('text/csv')).headers.get('content-type')).toStartWith('text/csv');
        const json = await withAccept('application/json');
        expect(json.headers.get('content-type')).toStartWith('application/json');
        expect(json.text).toBe(plain.text);
        expect((await withAccept('application/x-ndjson')).headers.get('content-type')).toContain('ndjson');
        expect((await api.ask(`${path}&format=json`, { headers: CSV })).text).toBe(plain.text);
      }
    });
  }

  test('the parameter overrides the header, and is case-insensitive', async () => {
    const reply = await api.ask(`${DAY}&format=NDJSON`, { headers: CSV });
    expect(reply.headers.get('content-type')).toContain('ndjson');
  });

  test('an unknown format is refused with the three valid ones; a repeated format is refused', async () => {
    for (const format of ['xml', 'csv,json', 'toString']) {
      const message = expectRefusal(await api.ask(`${DAY}&format=${format}`), 400, 'invalid_format');
      expect(message).toContain('json, csv, ndjson');
    }
    expectRefusal(await api.ask(`${DAY}&format=csv&format=csv`), 400, 'repeated_parameter');
  });

  test('errors stay JSON', async () => {
    const path = '/rates/historical?symbols=XAU,NOPE&date=2024-05-14';
    expectRefusal(await api.ask(`${path}&format=csv`), 404, 'unknown_symbol');
    expectRefusal(await api.ask(path, { headers: CSV }), 404, 'unknown_symbol');
    expectRefusal(await api.ask(`${DAY}&format=csv`, { key: '' }), 401, 'missing_key');
  });

  test('an empty result is only a header, or nothing', async () => {
    const path = '/rates/time-series?symbols=ZINC&startDate=2024-05-13&endDate=2024-05-14';
    expect((await api.ask(`${path}&format=csv`)).text).toBe(
      'date,symbol,open,high,low,close,unit,quote,factor,source\r\n',
    );
    expect((await api.ask(`${path}&format=ndjson`)).text).toBe('');
  });

  test('a name that looks like a formula is escaped', async () => {
    const { ledger } = api.service;
    const [gold] = (await ledger.symbols.list()).filter((one) => one.code === 'XAU');
    const { id: _, real: __, ...record } = gold!;
    await ledger.symbols.upsert([{ ...record, code: 'EVIL', name: '=cmd|calc' }], []);
    await api.service.core.follow();
    const row = lines(await api.ask('/symbols?format=csv')).find((line) => line.startsWith('EVIL,'));
    expect(row).toContain(",'=cmd|calc,");
  });

  test('HEAD has the headers of its format; a long body is compressed', async () => {
    const head = await api.ask('/symbols?format=csv', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const gzip = await api.ask('/symbols?format=csv', { headers: { 'accept-encoding': 'gzip' } });
    expect(gzip.headers.get('content-encoding')).toBe('gzip');
    expect(lines(gzip).length).toBeGreaterThan(CATALOGUE_SIZE);
  });

  test('each costs a unit', async () => {
    await api.service.setPlan({ name: 'counted', quota: 10 });
    const key = await api.service.key('counted');
    for (const format of ['csv', 'csv', 'ndjson', 'json']) await api.ask(`${DAY}&format=${format}`, { key });
    await api.ask(DAY, { key, headers: CSV });
    expect((await api.ask('/usage', { key })).body.used).toBe(5);
  });

  for (const encoding of ['identity', 'gzip']) {
    test(`a tool that requests the length and then ranges learns that ranges are not supported, and gets the whole table (${encoding})`, async () => {
      const path = `${api.service.url}/symbols?format=csv&apiKey=${api.key}`;
      const headers = { 'accept-encoding': encoding };
      const head = await fetch(path, { method: 'HEAD', headers, decompress: false });
      const whole = await fetch(path, { headers, decompress: false });
      const length = (await whole.arrayBuffer()).byteLength;
      expect(length).toBeGreaterThan(1_000);
      expect(head.headers.get('content-length')).toBeNull(); // DuckDB then downloads the whole file
      expect(head.headers.get('accept-ranges')).toBe('none');
      expect(head.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      for (const range of [`bytes=0-${length - 1}`, 'bytes=0-99', 'bytes=100-']) {
        const part = await fetch(path, { headers: { ...headers, range }, decompress: false });
        expect(part.status).toBe(200);
        expect(part.headers.get('content-range')).toBeNull();
        expect((await part.arrayBuffer()).byteLength).toBe(length);
      }
    });
  }
});

/** All numbers in a value, except revisions. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}
