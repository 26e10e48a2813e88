import { expect, test } from 'bun:test';
import { OPERATIONS } from '../../../src/api/openapi/operations.ts';
import { PARAMETERS } from '../../../src/api/openapi/parameters.ts';
import { RATES_PARAMETERS } from '../../../src/api/params/synonyms.ts';
import { apiOn, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const DAY = '/rates/historical?symbols=XAU&date=2024-05-14';
const RANGE = 'symbols=XAU&startDate=2024-05-13&endDate=2024-05-14';

test('every parameter of the rates endpoints is known to the check, so that none is silently ignored', () => {
  const names = OPERATIONS.filter(({ tag }) => tag === 'Rates')
    .flatMap(({ parameters = [] }) => parameters.map((name) => PARAMETERS[name]))
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }) => name);
  expect([...new Set(names)].sort()).toEqual([...RATES_PARAMETERS].sort());
});

function noEffect(name: string, meant: string): string {
  return `The parameter "${name}" has no effect. Did you mean "${meant}"?`;
}

onEachEngine('warnings', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    await service.publish('XAG', { '2024-05-14': 28.5 });
    await service.tick('XAU', 2357, Date.UTC(2024, 4, 14, 15)); // it has hours, too
  });
  const warningsOf = async (path: string) => (await api.ask(path)).body.warnings;

  const NO_EFFECT: [path: string, warnings: string[]][] = [
    [
      '/rates/latest?symbols=XAU&currency=EUR',
      ['The parameter "currency" has no effect. Did you mean "quote"?'],
    ],
    [`${DAY}&base=EUR`, ['The parameter "base" has no effect. Did you mean "quote"?']],
    ['/rates/latest?symbols=XAU&Quote=EUR', ['The parameter "Quote" has no effect. Did you mean "quote"?']],
    ['/rates/latest?symbols=XAU&amp;quote=EUR', [noEffect('amp;quote', 'quote')]],
    [
      `/rates/time-series?${RANGE}&start_date=2024-05-01&as_of=2024-05-01`,
      [
        'The parameter "start_date" has no effect. Did you mean "startDate"?',
        'The parameter "as_of" has no effect. Did you mean "asOf"?',
      ],
    ],
    [
      '/rates/latest?symbols=XAU&as_of=2024-05-13&start_date=2024-05-13',
      [
        'The parameter "as_of" has no effect on /rates/latest.',
        'The parameter "start_date" has no effect on /rates/latest.',
      ],
    ],
    ['/rates/latest?symbols=XAU&date=2024-05-13', ['The parameter "date" has no effect on /rates/latest.']],
    ['/rates/latest?symbols=XAU&asOf=2024-05-13', ['The parameter "asOf" has no effect on /rates/latest.']],
    [
      `/rates/time-series?${RANGE}&interval=week`,
      ['The parameter "interval" has no effect on /rates/time-series.'],
    ],
    [`${DAY}&startDate=2024-05-01`, ['The parameter "startDate" has no effect on /rates/historical.']],
    [
      `${DAY}&asOf=2024-05-15&currency=EUR`,
      ['The parameter "currency" has no effect. Did you mean "quote"?'],
    ],
    [
      '/rates/revisions?symbols=XAU&date=2024-05-14&startDate=2024-05-01&endDate=2024-05-14&cursor=x',
      ['startDate', 'endDate', 'cursor'].map(
        (name) => `The parameter "${name}" has no effect together with "date".`,
      ),
    ],
    [
      '/rates/revisions?symbols=XAU&date=2024-05-14&from=2024-05-01',
      ['The parameter "from" has no effect together with "date".'],
    ],
    [
      '/rates/revisions?symbols=XAU&date=2024-05-14&interval=week',
      ['The parameter "interval" has no effect on /rates/revisions.'],
    ],
    [`/rates/history?${RANGE}&collapse=monthly`, [noEffect('collapse', 'interval')]],
    [`/rates/history?${RANGE}&aggregation=avg`, [noEffect('aggregation', 'field')]],
    ['/rates/latest?symbols=XAU&limit=5&_=1', ['The parameter "limit" has no effect.']],
    [
      '/symbols?category=Metals&search=gold',
      ['The parameter "category" has no effect.', 'The parameter "search" has no effect.'],
    ],
    [
      `/rates/time-series?${RANGE}&sort_order=desc&timezone=Europe/Berlin&cb=7`,
      ['The parameter "sort_order" has no effect.', 'The parameter "timezone" has no effect.'],
    ],
    ['/symbols?symbols=XAU', ['The parameter "symbols" has no effect on /symbols.']],
    ['/usage?date=2024-05-14', ['The parameter "date" has no effect on /usage.']],
    ['/units?symbols=XAU&quote=EUR', ['The parameter "quote" has no effect on /units.']],
    [`/rates/fluctuation?${RANGE}&quote=`, ['The parameter "quote" is empty, which counts as missing.']],
  ];
  for (const [path, warnings] of NO_EFFECT) {
    test(`${path} reports what has no effect, the second time from the cache`, async () => {
      for (let i = 0; i < 3; i++) expect(await warningsOf(path)).toEqual(warnings);
    });
  }

  test('an empty optional parameter counts as missing on every endpoint', async () => {
    const emptyOf: [path: string, names: string[]][] = [
      ['/rates/latest?symbols=XAU', ['quote', 'unit', 'format', 'dryRun', 'metadata']],
      [DAY, ['quote', 'unit', 'asOf', 'format']],
      [
        `/rates/history?${RANGE}`,
        ['interval', 'transform', 'period', 'moving', 'layout', 'field', 'asOf', 'format', 'quote', 'unit'],
      ],
      [`/rates/history?${RANGE}&interval=hour`, ['asOf', 'format']],
      [`/rates/statistics?${RANGE}`, ['asOf', 'format']],
      [`/rates/revisions?${RANGE}`, ['date', 'format']],
      ['/rates/revisions?symbols=XAU&date=2024-05-14', ['format']],
    ];
    for (const [path, names] of emptyOf) {
      for (const name of names) {
        const { status, body } = await api.ask(`${path}&${name}=`);
        const warning = `The parameter "${name}" is empty, which counts as missing.`;
        expect([path, status, body.warnings]).toEqual([path, 200, [warning]]);
      }
    }
    const table = await api.ask(`/rates/history.csv?${RANGE}&format=&interval=`);
    expect(table.headers.get('content-type')).toStartWith('text/csv');
  });

  const SILENT = [
    `${DAY}&_=1715788800&utm_source=x&callback=f`,
    `/rates/history?${RANGE}&interval=week&format=json&metadata=false`,
    `/rates/fluctuation?${RANGE}&unit=kg&quote=USD&asOf=2024-05-15`,
    '/rates/latest?symbols=XAU&apiKey=another',
  ];
  for (const path of SILENT) {
    test(`${path} has nothing to report`, async () => {
      const { status, body } = await api.ask(path);
      expect([status, body.warnings]).toEqual([200, undefined]);
    });
  }

  test('a range before the history begins says when it begins, for each symbol that it concerns', async () => {
    const range = 'startDate=2024-05-13&endDate=2024-05-13';
    const expected = ['The data of XAG starts on 2024-05-14, after this range.'];
    for (const path of ['time-series', 'history']) {
      const { body } = await api.ask(`/rates/${path}?symbols=XAU,XAG&${range}`);
      expect(body.warnings).toEqual(expected);
      const early = await api.ask(`/rates/${path}?symbols=XAU&startDate=2020-01-01&endDate=2020-01-30`);
      expect(early.status).toBe(200);
      expect(early.body.warnings).toEqual(['The data of XAU starts on 2024-05-13, after this range.']);
    }
    const asOf = await api.ask(`/rates/time-series?symbols=XAG&${range}&asOf=2024-05-15`);
    expect(asOf.body.warnings).toEqual(expected);
  });

  test('so do the revisions of a range, of a day, and in a table', async () => {
    const revisions = '/rates/revisions?symbols=XAU,XAG';
    const range = `${revisions}&startDate=2024-05-13&endDate=2024-05-13`;
    const ofRange = 'The data of XAG starts on 2024-05-14, after this range.';
    expect(await warningsOf(range)).toEqual([ofRange]);
    expect((await api.ask(`${range}&format=csv`)).headers.get('openpit-warnings')).toBe(ofRange);
    const ofDay = 'The data of XAG starts on 2024-05-14, after this day.';
    expect(await warningsOf(`${revisions}&date=2024-05-13`)).toEqual([ofDay]);
    expect(await warningsOf(`${revisions}&date=2024-05-14`)).toBeUndefined();
  });

  test('a symbol without any data is named, in bodies and tables, with asOf and in revisions', async () => {
    const query = 'symbols=XAU,CORN&startDate=2024-05-13&endDate=2024-05-14';
    const paths = ['time-series', 'history', 'revisions'].map((path) => `/rates/${path}?${query}`);
    for (const path of [...paths, `/rates/history?${query}&asOf=2024-05-15`]) {
      expect(await warningsOf(path), path).toEqual(['CORN has no data yet.']);
      const table = await api.ask(`${path}&format=csv`);
      expect(table.headers.get('openpit-warnings'), path).toBe('CORN has no data yet.');
    }
  });

  test('warnings are the last member and change nothing before them', async () => {
    const plain = await api.ask(`/rates/time-series?${RANGE}`);
    const warned = await api.ask(`/rates/time-series?${RANGE}&currency=EUR`);
    expect(warned.text.startsWith(plain.text.slice(0, -1))).toBe(true);
    expect(warned.headers.get('etag')).not.toBe(plain.headers.get('etag'));
  });

  test('a stream begins with its warnings', async () => {
    const response = await api.service.get('/rates/stream?symbols=XAU&currency=EUR', api.key);
    const reader = response.body!.getReader();
    const text = Buffer.from((await reader.read()).value!).toString();
    await reader.cancel();
    expect(text).toContain(
      'event: warning\ndata: {"message":"The parameter \\"currency\\" has no effect on /rates/stream.',
    );
  });

  test('an alias says in metadata which symbol was used, and a code of its own does not', async () => {
    const range = 'startDate=2024-05-13&endDate=2024-05-14';
    const paths = [
      'latest?',
      'historical?date=2024-05-14&',
      `time-series?${range}&`,
      `fluctuation?${range}&`,
      `history?${range}&`,
      'revisions?date=2024-05-14&',
    ];
    for (const path of paths) {
      const { body } = await api.ask(`/rates/${path}symbols=GOLD,XAU`);
      const metadata = body.metadata as Record<string, Json>;
      expect([metadata.GOLD!.symbol, metadata.XAU!.symbol], path).toEqual(['XAU', undefined]);
    }
  });

  test('are in a header where the format has no place for them', async () => {
    const warning = 'The parameter "date" has no effect on /rates/history.';
    for (const format of ['csv', 'ndjson', 'parquet']) {
      for (const query of [
        RANGE,
        `${RANGE}&asOf=2024-05-15`,
        'symbols=XAU&startDate=1950-01-01&endDate=2024-05-14',
      ]) {
        const { headers } = await api.ask(`/rates/history?${query}&format=${format}&date=2024-05-14`);
        expect({ format, query, warnings: headers.get('openpit-warnings') }).toEqual({
          format,
          query,
          warnings: warning,
        });
      }
    }
    for (const format of ['csv', 'ndjson', 'parquet']) {
      for (const rest of ['', '&asOf=2024-05-15']) {
        for (const [code, start] of [
          ['XAU', '2024-05-13'],
          ['XAG', '2024-05-14'],
        ]) {
          const early = `/rates/history?symbols=${code}&startDate=1990-01-01&endDate=1990-12-31&format=${format}`;
          expect((await api.ask(early + rest)).headers.get('openpit-warnings')).toBe(
            `The data of ${code} starts on ${start}, after this range.`,
          );
        }
      }
    }
    const { headers } = await api.ask(`/rates/history?${RANGE}&format=csv`);
    expect(headers.get('openpit-warnings')).toBeNull();
    const json = await api.ask(`/rates/history?${RANGE}&date=2024-05-14`);
    expect(json.headers.get('openpit-warnings')).toBeNull();
  });

  test('in a header never start another header', async () => {
    const { headers } = await api.ask('/symbols?format=csv&dry%0D%0Arun=1');
    expect(headers.get('openpit-warnings')).toBe(
      'The parameter "dry run" has no effect. Did you mean "dryRun"?',
    );
  });

  test('say that a table has no metadata, and which values metadata may have', async () => {
    const { headers } = await api.ask(`${DAY}&metadata=false&format=csv`);
    expect(headers.get('openpit-warnings')).toBe(
      'The parameter "metadata" has no effect: only JSON has metadata.',
    );
    expect(await warningsOf(`${DAY}&metadata=no`)).toEqual([
      'The parameter "metadata" has no effect: it must be "true" or "false".',
    ]);
    expect(await warningsOf(`${DAY}&metadata=true`)).toBeUndefined();
  });

  test('metadata=False, as Python writes it, omits the metadata', async () => {
    for (const value of ['False', 'FALSE', 'false']) {
      const { body } = await api.ask(`${DAY}&metadata=${value}`);
      expect([body.metadata, body.warnings], value).toEqual([undefined, undefined]);
    }
  });

  test('say in a table, too, that a history begins after the range', async () => {
    const { headers } = await api.ask(
      '/rates/history?symbols=XAU&startDate=2000-01-01&endDate=2001-01-01&format=csv',
    );
    expect(headers.get('openpit-warnings')).toBe('The data of XAU starts on 2024-05-13, after this range.');
  });
});
