import { expect, test } from 'bun:test';
import { bytes, HTML_PAGE, STOOQ_CSV } from '../../../test/support/feeds/feed-bodies.ts';
import { printDay } from '../../market/day.ts';
import { stooq } from './stooq.ts';

const request = { url: 'https://stooq.com/q/d/l/?s=cl.f&i=d' };
const parse = (text: string) => stooq.parse(bytes(text), request);

test('CRLF and short rows: a row without a volume is a bar, one without a close is missing', () => {
  const { observations, missing, refused } = parse(STOOQ_CSV);
  expect(observations.map(({ day, ...bar }) => ({ day: printDay(day), ...bar }))).toEqual([
    { series: 'cl.f', day: '2020-04-17', open: 19.5, high: 20, low: 17.3, close: 18.27 },
    { series: 'cl.f', day: '2020-04-20', open: 17.73, high: 17.85, low: -40.32, close: -37.63 },
  ]);
  expect({ missing, refused }).toEqual({ missing: 1, refused: [] });
});

test('an inconsistent bar is kept and flagged', () => {
  const { observations, odd } = parse('Date,Open,High,Low,Close\n2020-04-18,5,4,1,2\n');
  expect(observations.length).toBe(1);
  expect(odd).toEqual([{ where: 'line 2', reason: 'open 5, high 4, low 1, close 2 do not fit together' }]);
});

test('the Polish page and the bulk files are supported', () => {
  const polish = 'Data,Otwarcie,Najwyzszy,Najnizszy,Zamkniecie\n2020-04-20,17.73,17.85,-40.32,-37.63\n';
  const bulk =
    '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>\nCL.F,D,20200420,000000,17.73,17.85,-40.32,-37.63,1\n';
  const expected = parse(STOOQ_CSV).observations.slice(1);
  expect(parse(polish).observations).toEqual(expected);
  expect(parse(bulk).observations).toEqual(expected);
});

test('a body that is something else is refused with the reason', () => {
  expect(() => parse('')).toThrow('empty');
  expect(() => parse(HTML_PAGE)).toThrow('HTML');
  expect(() => parse('<html><body>challenge</body></html>')).toThrow('HTML');
  expect(() => parse('No data')).toThrow('"No data"');
  expect(() => parse('Exceeded the daily hits limit')).toThrow('Exceeded');
});
