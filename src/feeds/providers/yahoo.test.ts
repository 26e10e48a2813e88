import { expect, test } from 'bun:test';
import { bytes, HTML_PAGE, yahooJson } from '../../../test/support/feeds/feed-bodies.ts';
import { pricesOf } from '../../../test/support/responses/catalogue.ts';
import { printDay } from '../../market/day.ts';
import { yahoo } from './yahoo.ts';

const parse = (text: string) => yahoo.parse(bytes(text), { url: 'https://query1.finance.yahoo.com/x' });

test('bars on the exchange’s days; nulls are missing; float32 prices are restored; the last bar is live', () => {
  const { observations, missing, refused, ignored } = parse(yahooJson());
  expect(observations.map(({ day, ...bar }) => ({ day: printDay(day), ...bar }))).toEqual([
    { series: 'CL=F', day: '2020-04-20', open: 17.73, high: 17.85, low: -40.32, close: -37.63 },
    { series: 'CL=F', day: '2020-04-22', open: 10.5, high: 14, low: 6.5, close: 13.78 },
  ]);
  expect({ missing, refused }).toEqual({ missing: 1, refused: [] });
  expect(ignored).toEqual([{ where: 'bar 3', reason: 'it is still forming' }]);
});

test('the last bar of a completed day is kept', () => {
  const later = { regularMarketTime: 1_590_000_000 };
  expect(
    parse(
      yahooJson(later, {
        close: [1, 2, 13.78, 13.78],
        open: [1, 2, 10.5, 10.5],
        high: [1, 2, 14, 14],
        low: [1, 1, 6.5, 6.5],
      }),
    ),
  ).toMatchObject({
    refused: [],
    ignored: [],
  });
});

test('cents become dollars if the symbol is in dollars; an unexpected currency refuses the series', () => {
  const wheat = parse(
    yahooJson(
      { symbol: 'ZW=F', currency: 'USX' },
      { close: [548.25, null, 550, 1], open: [540, 1, 1, 1], high: [550, 1, 1, 1], low: [539.5, 1, 1, 1] },
    ),
  );
  expect(pricesOf(yahoo, wheat)[0]).toMatchObject({
    symbol: 'ZW-FUT',
    open: 5.4,
    high: 5.5,
    low: 5.395,
    close: 5.4825,
  });
  const dollars = parse(yahooJson({ symbol: 'ZW=F', currency: 'USD' }));
  expect(dollars.observations).toEqual([]);
  expect(dollars.refused).toEqual([{ where: 'ZW=F', reason: 'ZW=F is in "USD" where USX was expected' }]);
});

test('a body that is something else is refused with the reason', () => {
  expect(() => parse('')).toThrow('empty');
  expect(() => parse(HTML_PAGE)).toThrow('HTML');
  expect(() => parse(yahooJson().slice(0, 200))).toThrow('may be truncated');
  expect(() => parse('{"chart":{"result":null,"error":{"code":"Not Found"}}}')).toThrow('Not Found');
  expect(() => parse('{"chart":{"result":[],"error":null}}')).toThrow('no result');
  expect(() => parse(yahooJson({ dataGranularity: '5m' }))).toThrow('"5m"');
});
