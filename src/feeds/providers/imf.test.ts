import { expect, test } from 'bun:test';
import { bytes, HTML_PAGE, IMF_CSV } from '../../../test/support/feeds/feed-bodies.ts';
import { printDay } from '../../market/day.ts';
import { imf } from './imf.ts';

const parse = (text: string) => imf.parse(bytes(text), { url: 'https://api.imf.org/x' });
const rows = (text: string) => parse(text).observations.map((o) => [o.series, printDay(o.day), o.close]);

test('months in either spelling belong to their first day; an index is not a price', () => {
  expect(rows(IMF_CSV)).toEqual([
    ['PCOPP', '2026-08-01', 9650.5],
    ['PIORECR', '2026-07-01', 98.21],
  ]);
  expect(parse(IMF_CSV)).toMatchObject({
    missing: 1,
    refused: [{ where: 'line 5', reason: '"PIORECR" has "IX", which is not a price in USD' }],
  });
});

test('columns by other names, in another order, with labels and quotes', () => {
  const text = '"OBS_VALUE","TIME_PERIOD","FREQ","COMMODITY: Commodity","REF_AREA"\r\n';
  expect(() => parse(text)).toThrow('INDICATOR');
  const labelled =
    '"OBS_VALUE","TIME_PERIOD","FREQ","COMMODITY","REF_AREA"\r\n"9,1",2026-08,M,PCOPP,W00\r\n"91.5","2026-08","M: Monthly","PCOPP: Copper, Grade A","W00: All"\r\n';
  expect(rows(labelled)).toEqual([['PCOPP', '2026-08-01', 91.5]]);
  expect(parse(labelled).refused.map((one) => one.reason)).toEqual(['"9,1" is not a number']);
});

test('an unexpected area or frequency is refused once per series', () => {
  const text =
    'COUNTRY,INDICATOR,FREQUENCY,TIME_PERIOD,OBS_VALUE\nG001,PCOPP,Q,2026-Q1,1\nG001,PCOPP,Q,2026-Q2,1\nUSA,PCOPP,M,2026-M01,1\n';
  expect(parse(text).refused.length).toBe(2);
  expect(rows(text)).toEqual([]);
});

test('a body that is something else is refused with the reason', () => {
  expect(() => parse('')).toThrow('empty');
  expect(() => parse(HTML_PAGE)).toThrow('HTML');
  expect(() => parse('<?xml version="1.0"?><Structure/>')).toThrow('TIME_PERIOD');
});
