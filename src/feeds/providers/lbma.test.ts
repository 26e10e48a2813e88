import { expect, test } from 'bun:test';
import { bytes, HTML_PAGE, LBMA_JSON } from '../../../test/support/feeds/feed-bodies.ts';
import { printDay } from '../../market/day.ts';
import { lbma } from './lbma.ts';

const request = { url: 'https://prices.lbma.org.uk/json/gold_pm.json' };
const parse = (text: string, at: { url: string } = request) => lbma.parse(bytes(text), at);

test('the first price of each entry is in dollars; null is missing', () => {
  const { observations, missing, refused } = parse(LBMA_JSON);
  expect(observations.map((o) => [o.series, printDay(o.day), o.close])).toEqual([
    ['gold_pm', '1968-04-01', 37.7],
    ['gold_pm', '2026-04-02', 4587.2],
  ]);
  expect({ missing, refused }).toEqual({ missing: 1, refused: [] });
});

test('it may not be redistributed, so it is off until the operator enables it', () => {
  expect(lbma.licence.redistribution).toBe('no');
});

test('a body that is something else is refused with the reason', () => {
  expect(() => parse('')).toThrow('empty');
  expect(() => parse(HTML_PAGE)).toThrow('HTML');
  expect(() => parse('[]')).toThrow('empty');
  expect(() => parse('{"d":1}')).toThrow('expected structure');
  expect(() => parse(LBMA_JSON, { url: 'https://prices.lbma.org.uk/' })).toThrow('names the metal');
});
