import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { closes, NOW, parse } from '../../../test/support/feeds/staged-text.ts';
import { parseDay, printDay } from '../../market/day.ts';
import { marketOf } from '../../market/session.ts';
import { RowSplitter } from '../csv/row-splitter.ts';
import { stageTable } from './stage-file.ts';
import { Staging } from './staging.ts';
import { openText } from './text-table.ts';

const LAW_RUNS = 300;

describe('layout', () => {
  const expected: [string, number][] = [
    ['2026-01-02', 70.5],
    ['2026-01-05', -36.98],
  ];
  test.each([
    ['plain', 'date,close\n2026-01-02,70.5\n2026-01-05,-36.98\n'],
    ['a mark, CRLF and no newline at the end', '\uFEFFDate,Price\r\n2026-01-02,70.5\r\n2026-01-05,-36.98'],
    ['descending, with blank lines', 'date,close\n\n2026-01-05,-36.98\n\n2026-01-02,70.5\n\n\n'],
    ['semicolons and decimal commas', 'Date;Close\n2026-01-02;70,5\n2026-01-05;-36,98\n'],
    ['tabs', 'DATE\tVALUE\n2026-01-02\t70.5\n2026-01-05\t-36.98\n'],
    ['quotes', '"Date","Close"\n"2026-01-02","70.5"\n"2026-01-05","-36.98"\n'],
    ['more columns than needed', 'id,close,date,volume\n1,70.5,2026-01-02,9\n2,-36.98,2026-01-05,9\n'],
    [
      'a note at the end',
      'date,close\n2026-01-02,70.5\n2026-01-05,-36.98\n* not seasonally adjusted\nSource: EIA\n',
    ],
    ['a line for Excel', 'sep=;\ndate;close\n2026-01-02;70.5\n2026-01-05;-36.98\n'],
    ['days in words', 'Date,Close\n"Jan 02, 2026",70.5\n5 January 2026,-36.98\n'],
    ['a header with line breaks', '"Trade\nDate","Close\r\nprice"\n2026-01-02,70.5\n2026-01-05,-36.98\n'],
    [
      'a quote that is not closed before the header',
      '"Prices in USD\n"Date","Close"\n2026-01-02,70.5\n2026-01-05,-36.98\n',
    ],
    [
      'times of PostgreSQL',
      'timestamp,close\n2026-01-02 00:00:00+00,70.5\n2026-01-05 00:00:00.5-05,-36.98\n',
    ],
    ['midnights', 'timestamp,close\n2026-01-02T00:00:00Z,70.5\n2026-01-05 00:00:00-05:00,-36.98\n'],
  ])('%s', async (_name, text) => {
    expect(await closes(text)).toEqual(expected);
    expect((await parse(text)).refused).toEqual([]);
  });

  test('lines are counted with those inside a header', async () => {
    const text = 'date,"close\nprice",note\n2026-01-02,x,\n';
    const { refused } = await parse(text, { columns: { value: '2' } });
    expect(refused).toEqual([{ line: 3, reason: '"x" is not a number' }]);
  });

  test.each([
    ['Date,Open,High,Low,Close,Open,High,Low,Close', {}, 'Open, High, Low, Close'],
    ['Date,Close,Date', {}, 'Date'],
    ['Date,Price,price', { value: 'Price' }, 'Price'],
    ['Date,Code,Price,Code', { symbol: 'code' }, 'Code'],
  ])('a header that names a column twice is refused: %s', async (header, columns, names) => {
    const text = `${header}\n2026-01-02,1,2,1,2,5,6,5,6\n`;
    await expect(parse(text, { columns })).rejects.toThrow(
      `the header has more than one column ${names}; choose columns by number, such as --ohlc-columns 2,3,4,5`,
    );
  });

  test('of columns with the same name, the operator chooses by number', async () => {
    const text = 'Date,Open,High,Low,Close,Open,High,Low,Close\n2026-01-02,1,2,1,2,5,6,5,6\n';
    const ohlc = ['6', '7', '8', '9'] as const;
    expect(await closes(text, { columns: { ohlc } })).toEqual([['2026-01-02', 6]]);
    expect(await closes(text, { columns: { value: '5' } })).toEqual([['2026-01-02', 2]]);
  });

  test('EIA: lines before the header, month first, descending', async () => {
    const text =
      'Cushing OK WTI Spot Price FOB\nhttps://www.eia.gov/dnav/pet/hist/RWTCD.htm\n22:36:25 GMT-0400 (Eastern Daylight Time)\nData Source: Thomson Reuters\nDay,Cushing OK WTI Spot Price FOB  Dollars per Barrel\n01/5/2026,-36.98\n01/2/2026,70.5\n12/31/2025,71 ';
    expect(await closes(text)).toEqual([['2025-12-31', 71], ...expected]);
  });

  test('open, high, low and a close by another name', async () => {
    const text =
      '"Date","Price","Open","High","Low","Vol.","Change %"\n"01/13/2026","70.5","70","71","69","144.15K","0.5%"\n';
    expect((await parse(text)).bars).toEqual([
      { symbol: '', day: parseDay('2026-01-13')!, open: 70, high: 71, low: 69, close: 70.5 },
    ]);
  });

  const investing = '"13.01.2026","70,5","70","71","69","5,52K","0,5%"';
  test.each([
    ['ariva.de', 'Datum;Erster;Hoch;Tief;Schlusskurs;Stuecke;Volumen', '2026-01-13;70;71;69;70,5;;'],
    ['onvista.de', 'Datum;Eröffnung;Hoch;Tief;Schluss;Währung;Volumen', '13.01.2026;70;71;69;70,5;EUR;0'],
    [
      'wienerborse.at',
      'Datum;Eröffnungspreis;Tageshoch;Tagestief;Schlusspreis;Diff.%;',
      '13.01.2026;70;71;69;70,5;0,7;',
    ],
    [
      'boursorama',
      'date\touv\thaut\tbas\tclot\tvol\tdevise\t',
      '13/01/2026 00:00\t70\t71\t69\t70.5\t0\tPts\t',
    ],
    ['French', 'Date;Ouverture;Plus haut;Plus bas;Clôture', '13/01/2026;70;71;69;70,5'],
    ['Spanish', 'Fecha;Apertura;Máximo;Mínimo;Cierre', '13/01/2026;70;71;69;70,5'],
    ['Italian', 'Data;Apertura;Massimo;Minimo;Chiusura', '13/01/2026;70;71;69;70,5'],
    ['stooq.pl', 'Data,Otwarcie,Najwyzszy,Najnizszy,Zamkniecie,Wolumen', '2026-01-13,70,71,69,70.5,9'],
    ['investing.com in German', '"Datum","Zuletzt","Eröffn.","Hoch","Tief","Vol.","+/- %"', investing],
    [
      'investing.com in French',
      '"Date","Dernier","Ouv."," Plus Haut","Plus Bas","Vol.","Variation %"',
      investing,
    ],
    ['investing.com in Spanish', '"Fecha","Último","Apertura","Máximo","Mínimo","Vol.","% var."', investing],
    ['investing.com in Italian', '"Data","Ultimo","Apertura","Massimo","Minimo","Vol.","Var. %"', investing],
    ['investing.com in Portuguese', '"Data","Último","Abertura","Máxima","Mínima","Vol.","Var%"', investing],
    ['investing.com in Dutch', '"Datum","Laatste","Open","Hoog","Laag","Vol.","Var. %"', investing],
  ])('the columns of %s', async (_site, header, row) => {
    expect((await parse(`${header}\n${row}\n`)).bars).toEqual([
      { symbol: '', day: parseDay('2026-01-13')!, open: 70, high: 71, low: 69, close: 70.5 },
    ]);
  });

  test('the close is found beside other columns also in another language, and "Data" is a date only beside a price', async () => {
    expect(await closes('Datum;Schluss;Volumen\n02.01.2026;70,5;9\n13.01.2026;71;8\n')).toEqual([
      ['2026-01-02', 70.5],
      ['2026-01-13', 71],
    ]);
    const titled = 'Data,Monthly averages\ndate,close\n2026-01-02,70.5\n';
    expect(await closes(titled)).toEqual([['2026-01-02', 70.5]]);
  });

  test('the operator names the columns if the header is not clear', async () => {
    const text = 'Tag,A,B\n2026-01-02,1,2\n';
    await expect(parse(text)).rejects.toThrow('--date-column');
    await expect(parse(text, { columns: { date: 'tag' } })).rejects.toThrow('--value-column');
    expect(await closes(text, { columns: { date: 'TAG', value: 'b' } })).toEqual([['2026-01-02', 2]]);
    expect(await closes(text, { columns: { date: 'tag', value: '2' } })).toEqual([['2026-01-02', 1]]);
    await expect(parse(text, { columns: { date: 'tag', value: 'C' } })).rejects.toThrow(
      'no column "C" (it has Tag, A, B)',
    );
    const bars = 'day;a;b;c;d\n2026-01-02;1;4;0;2\n';
    expect((await parse(bars, { columns: { ohlc: ['a', 'b', 'c', 'd'] } })).bars[0]).toMatchObject({
      high: 4,
      close: 2,
    });
  });

  test('a symbol column: the same day of two symbols is two bars', async () => {
    const text = 'symbol,date,close\nxau,2026-01-02,4000\nXAG,2026-01-02,70\n,2026-01-02,1\n';
    const { bars, refused } = await parse(text, { columns: { symbol: 'Symbol' } });
    expect(bars.map(({ symbol, close }) => [symbol, close])).toEqual([
      ['XAU', 4000],
      ['XAG', 70],
    ]);
    expect(refused).toEqual([{ line: 4, reason: 'it has no symbol' }]);
  });
});

describe('the order of day and month', () => {
  test('one value above 12 determines it for the file', async () => {
    expect(await closes('date,close\n03/04/2026,1\n13/04/2026,2\n')).toEqual([
      ['2026-04-03', 1],
      ['2026-04-13', 2],
    ]);
    expect((await closes('date,close\n03/04/2026,1\n04/13/2026,2\n'))[0]).toEqual(['2026-03-04', 1]);
    expect((await closes('date;close\n03.04.2026;1\n31.03.2026;2\n'))[0]).toEqual(['2026-03-31', 2]);
  });

  test('without one the file is rejected, unless the operator gives the order or it does not matter', async () => {
    const text = 'date,close\n03/04/2026,1\n05/06/2026,2\n';
    await expect(parse(text)).rejects.toThrow('--date-order');
    expect((await closes(text, { dateOrder: 'dmy' }))[0]).toEqual(['2026-04-03', 1]);
    expect((await closes(text, { dateOrder: 'mdy' }))[0]).toEqual(['2026-03-04', 1]);
    expect(await closes('date,close\n03/03/2026,1\n')).toEqual([['2026-03-03', 1]]);
  });

  test('a file with both orders is rejected', async () => {
    await expect(parse('date,close\n13/04/2026,1\n04/14/2026,2\n')).rejects.toThrow('same order');
  });

  test('a two-digit year is not a day', async () => {
    expect((await parse('date,close\n03/14/26,1\n')).refused).toEqual([
      { line: 2, reason: '"03/14/26" is not a date; the year must have four digits' },
    ]);
  });
});

describe('timestamps', () => {
  test('belong to the day as written, or to the day in the given zone', async () => {
    const text = 'time,close\n2026-01-02T23:30:00Z,1\n';
    expect((await closes(text))[0]![0]).toBe('2026-01-02');
    expect((await closes(text, { zone: 'Asia/Shanghai' }))[0]![0]).toBe('2026-01-03');
    expect((await closes('time,close\n1767398400,1\n'))[0]![0]).toBe('2026-01-03');
    expect((await closes('time,close\n1767398400000,1\n', { zone: 'America/New_York' }))[0]![0]).toBe(
      '2026-01-02',
    );
    expect((await closes('time,close\n01/13/2026 4:00 PM,1\n'))[0]![0]).toBe('2026-01-13');
  });

  test('months belong to their first day', async () => {
    expect(await closes('period,value\n2026-M02,2\n2026-01,1\nMar 2026,3\n')).toEqual([
      ['2026-01-01', 1],
      ['2026-02-01', 2],
      ['2026-03-01', 3],
    ]);
  });
});

test('weekend rows and inconsistent bars are kept', async () => {
  const { bars } = await parse('date,open,high,low,close\n2026-01-03,5,4,1,2\n2026-01-04,2,3,1,2\n');
  expect(bars.length).toBe(2);
});

test('a repeated day counts once if equal, otherwise not at all; a future day is refused', async () => {
  const { bars, refused } = await parse(
    'date,close\n2026-01-02,5\n2026-01-02,5\n2026-01-03,5\n2026-01-03,6\n2999-01-01,1\n',
  );
  expect(bars.map((bar) => printDay(bar.day))).toEqual(['2026-01-02']);
  expect(refused.map(({ line }) => line)).toEqual([4, 5, 6]);
  expect(refused[1]!.reason).toBe(refused[0]!.reason);
  expect(refused[0]!.reason).toBe('2026-01-03 has two prices, 5 (line 4) and 6 (line 5); neither is used');
});

test.each([
  ['', 'empty'],
  ['a,b\n1,2\n', 'the file starts with "a,b"'],
  ['date,close\n"2026-01-02,5\n', 'may be truncated'],
])('a file that is something else is refused with the reason (%#)', async (text, reason) => {
  await expect(parse(text)).rejects.toThrow(reason);
});

test('rows are the same however the text is split into chunks, with or without the CSV library', () => {
  const cell = fc.stringMatching(/^[a-z0-9 .;-]{0,6}$/);
  const quoted = fc.stringMatching(/^[a-z ,"\r\n]{0,6}$/).map((text) => `"${text.replaceAll('"', '""')}"`);
  const rows = fc.array(fc.array(fc.oneof(cell, quoted), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 6,
  });
  const split = (chunks: readonly string[]) => {
    const splitter = new RowSplitter(',');
    return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
  };
  fc.assert(
    fc.property(
      rows,
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.integer({ min: 1, max: 9 }),
      (cells, end, size) => {
        const text = cells.map((row) => row.join(',')).join(end);
        const whole = split([text]);
        expect(split(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [])).toEqual(whole);
        // A quote at the end sends the whole text through the library.
        expect(split([`${text}${end}"q"`]).slice(0, -1)).toEqual(whole);
      },
    ),
    { numRuns: LAW_RUNS },
  );
});

test('a line end that is cut in half after a blank line counts once', () => {
  const splitter = new RowSplitter(',');
  expect(['\r', '\n', '1'].flatMap((chunk) => splitter.push(chunk))).toEqual([]);
  expect(splitter.end()).toEqual([{ line: 2, cells: ['1'] }]);
});

describe('files without a header', () => {
  const expected: [string, number][] = [
    ['2026-01-02', 70.5],
    ['2026-01-05', -36.98],
  ];

  test.each([
    ['ISO dates', '2026-01-02,70.5\n2026-01-05,-36.98\n'],
    ['semicolons and decimal commas', '13.01.2025;1,5\n02.01.2026;70,5\n05.01.2026;-36,98\n'],
    ['tabs, with the date last', '70.5\t2026-01-02\n-36.98\t2026-01-05\n'],
    ['quotes and signs', '"2026-01-02","$70.50"\n"2026-01-05","-$36.98"\n'],
  ])('%s: the first row tells which column is which', async (_name, text) => {
    expect((await closes(text)).slice(-2)).toEqual(expected);
  });

  test('the columns can be given by number, below any preamble', async () => {
    const text = 'WTI, from the archive\nx,2026-01-02,1,70.5,abc\nx,2026-01-05,2,-36.98,abc\n';
    expect(await closes(text, { columns: { date: '2', value: '4' } })).toEqual(expected);
    const ohlc = '2026-01-02,1,4,0,2\n';
    const { bars } = await parse(ohlc, { columns: { date: '1', ohlc: ['2', '3', '4', '5'] } });
    expect(bars[0]).toMatchObject({ open: 1, high: 4, low: 0, close: 2 });
    const symbols = await parse('XAU,2026-01-02,5\n', { columns: { symbol: '1' } });
    expect(symbols.bars[0]).toMatchObject({ symbol: 'XAU', close: 5 });
  });

  test('column numbers also work with a header', async () => {
    expect(await closes('when,what\n2026-01-02,70.5\n', { columns: { date: '1', value: '2' } })).toEqual([
      expected[0]!,
    ]);
  });

  test('an ambiguous row is rejected, and the message names the flags', async () => {
    await expect(parse('2026-01-02,1,2\n')).rejects.toThrow('--value-column');
    await expect(parse('1960,1961\n')).resolves.toMatchObject({ refused: [] });
    await expect(parse('2026-01-02,2026-01-03,5\n')).rejects.toThrow('--date-column');
  });
});

describe('yfinance', () => {
  test('its three header lines are read as one', async () => {
    const text =
      'Price,Close,High,Low,Open,Volume\nTicker,GC=F,GC=F,GC=F,GC=F,GC=F\nDate,,,,,\n2026-01-02,3,4,1,2,99\n';
    const { bars, refused } = await parse(text);
    expect(refused).toEqual([]);
    expect(bars).toEqual([{ symbol: '', day: parseDay('2026-01-02')!, open: 2, high: 4, low: 1, close: 3 }]);
  });

  test('with several tickers a column name includes its ticker', async () => {
    const text = 'Price,Close,Close\nTicker,GC=F,CL=F\nDate,,\n2026-01-02,3,4\n';
    expect(await closes(text, { columns: { value: 'Close CL=F' } })).toEqual([['2026-01-02', 4]]);
    await expect(parse(text)).rejects.toThrow('Close GC=F');
  });
});

test.each([
  ['1833-01-15', '1833-01-15'],
  ['18330115', '1833-01-15'],
  ['1833/1/15', '1833-01-15'],
  ['15/01/1833', '1833-01-15'],
  ['01/15/1833', '1833-01-15'],
  ['15 January 1833', '1833-01-15'],
  ['"Jan 15, 1833"', '1833-01-15'],
  ['1833-01-15T10:00:00Z', '1833-01-15'],
  ['1833-01', '1833-01-01'],
  ['1833M01', '1833-01-01'],
  ['01/1833', '1833-01-01'],
  ['Jan 1833', '1833-01-01'],
  ['1833', '1833-01-01'],
  ['1960', '1960-01-01'],
])('the date %s is %s', async (text, day) => {
  expect(await closes(`date,close\n${text},18.93\n`)).toEqual([[day, 18.93]]);
});

test('memory does not grow with the file', async () => {
  const rows = 400_000;
  let held = 0;
  const lines = (from: number) =>
    Array.from(
      { length: 1_000 },
      (_, i) => `${printDay(-20_000 + ((from + i) % 20_000))},S${(from + i) % 20},1.5\n`,
    );
  const source = {
    async *chunks() {
      yield Buffer.from('date,symbol,close\n');
      for (let at = 0; at < rows; at += 1_000) {
        if (at % 100_000 === 0) {
          Bun.gc(true);
          held = Math.max(held, process.memoryUsage().heapUsed);
        }
        yield Buffer.from(lines(at).join(''));
      }
    },
  };
  Bun.gc(true);
  const before = process.memoryUsage().heapUsed;
  using staging = new Staging();
  const columns = { symbol: 'symbol' };
  const symbolOf = (code: string) => ({
    number: Number(code.slice(1)),
    code,
    currency: 'USD',
    market: marketOf('SPOT'),
  });
  await stageTable(await openText(source, columns), { columns, now: NOW, symbolOf }, staging);
  expect(staging.rows).toBe(rows);
  expect(held - before).toBeLessThan(40e6); // as objects, 400,000 bars take more than 100 MB
}, 180_000); // staging them takes about as long as the 5 s that Bun allows by default
