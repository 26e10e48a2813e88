import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { additionsOf, differencesOf, type JsonValue } from './differences.ts';

const between = (base: JsonValue, other: JsonValue, tolerance = 0) =>
  differencesOf({ status: 200, body: base }, { status: 200, body: other }, tolerance).map(
    ({ kind, at, base: first, other: second }) => `${kind} ${at}: ${first} | ${second}`,
  );

describe('two responses', () => {
  test('that are equal have no differences, whatever they contain', () => {
    const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('-0'));
    fc.assert(
      fc.property(json, (value) => expect(between(value as JsonValue, value as JsonValue)).toEqual([])),
    );
  });

  test('differ in shape where a member is missing or has another type, not where one was added', () => {
    expect(between({ rates: { XAU: 1 } }, { rates: {} })).toEqual(['shape rates.XAU: 1 | missing']);
    expect(between({ statusCode: '404' }, { statusCode: 404 })).toEqual(['shape statusCode: 404 | 404']);
    expect(between({ a: null }, { a: {} })).toEqual(['shape a: null | {}']);
    expect(between({ a: 1 }, { a: 1, metadata: {} })).toEqual([]);
  });

  test('list the members that were added, each once with its contents', () => {
    const additions = (base: JsonValue, other: JsonValue) =>
      additionsOf({ status: 200, body: base }, { status: 200, body: other });
    expect(additions({ a: { b: 1 } }, { a: { b: 1, c: 2 }, metaData: { XAU: {} } })).toEqual([
      'a.c',
      'metaData',
    ]);
    expect(additions({ a: 1 }, { a: 1, timestamp: 1 })).toEqual([]);
    expect(additions({ rates: {} }, { rates: { '2024-05-13': 1 } })).toEqual([]); // a difference
  });

  test('differ in dates where a day is on one side only, or another day was used', () => {
    expect(between({ rates: { '2024-05-14': 1 } }, { rates: { '2024-05-13': 1 } })).toEqual([
      'date rates.2024-05-14: 1 | missing',
      'date rates.2024-05-13: missing | 1',
    ]);
    expect(between({ date: '2024-05-14' }, { date: '2024-05-13' })).toEqual([
      'date date: 2024-05-14 | 2024-05-13',
    ]);
  });

  test('differ in values beyond the tolerance, which names dollars and cents', () => {
    expect(between({ a: 100 }, { a: 100.4 })).toEqual(['value a: 100 | 100.4']);
    expect(between({ a: 100 }, { a: 100.4 }, 0.5)).toEqual([]);
    expect(between({ a: -100 }, { a: -101 }, 0.5)).toEqual(['value a: -100 | -101']);
    expect(between({ a: 4.67 }, { a: 467.25 }, 1)).toEqual([
      'value a: 4.67 | 467.25 (one of them is in cents)',
    ]);
    expect(between({ a: 0 }, { a: 0 })).toEqual([]);
  });

  test('with another status differ in that alone, with the message', () => {
    const error = { status: 404, body: { message: 'Unknown symbol' } };
    expect(differencesOf({ status: 200, body: {} }, error, 0)).toEqual([
      { kind: 'shape', at: 'status', base: '200', other: '404: Unknown symbol' },
    ]);
  });

  test('may differ in the time of the response and in the source of a price', () => {
    expect(between({ timestamp: 1, source: 'a' }, { timestamp: 2, source: 'b' })).toEqual([]);
  });

  test('of errors may differ in the words of the message and in the path, but must have them', () => {
    const error = { message: 'Symbols missing', path: '/v2/rates/latest' };
    expect(between(error, { message: 'No symbols', path: '/v3/rates/latest' })).toEqual([]);
    expect(between(error, { path: '/v3/rates/latest' })).toEqual([
      'shape message: Symbols missing | missing',
    ]);
  });
});
