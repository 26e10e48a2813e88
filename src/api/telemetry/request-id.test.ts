import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { givenRequestId, requestIdLine, requestIdText, traceIdOf } from './request-id.ts';

const withHeader = (name: string, value: string) => ({
  method: 'GET',
  url: '/',
  headers: new Headers({ [name]: value }),
  bytes: async () => new Uint8Array(),
  text: async () => '',
});

test('our own ids end in the number of the request, in base 32', () => {
  const [prefix] = requestIdText(0).split('-');
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 40 - 1 }), (number) => {
      expect(requestIdText(number)).toBe(`${prefix}-${number.toString(32).padStart(8, '0')}`);
    }),
  );
});

test('the header line of an id contains its text, whatever the one before was', () => {
  const id = fc.oneof(fc.nat({ max: 5_000 }), fc.integer({ min: 0, max: 2 ** 40 - 1 }), fc.constant('own'));
  fc.assert(
    fc.property(fc.array(id), (ids) => {
      for (const one of ids)
        expect(requestIdLine(one).toString()).toBe(`X-Request-Id: ${requestIdText(one)}\r\n`);
    }),
  );
});

test('a client’s id is accepted if it is short, plain and contains no key', () => {
  const given = (id: string) => givenRequestId(withHeader('x-request-id', id));
  for (const id of [
    'a',
    '4f1c2a9b-7',
    crypto.randomUUID(),
    'Root=1-67891233-abcdef012345678912345678',
    'x'.repeat(128),
  ])
    expect(given(id)).toBe(id);
  for (const id of ['x'.repeat(129), 'a b', 'a"b', 'ä', '<a>', `pit_live_${'a'.repeat(36)}`])
    expect(given(id)).toBeUndefined();
});

test('the trace id is read only from a well-formed traceparent', () => {
  const trace = (value: string) => traceIdOf(withHeader('traceparent', value));
  const id = '4bf92f3577b34da6a3ce929d0e0e4736';
  expect(trace(`00-${id}-00f067aa0ba902b7-01`)).toBe(id);
  expect(trace(`cc-${id}-00f067aa0ba902b7-01-what-the-future-will-be-like`)).toBe(id);
  for (const wrong of [
    '',
    id,
    `00-${id.slice(1)}-00f067aa0ba902b7-01`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${id.toUpperCase()}-00f067aa0ba902b7-01`,
  ])
    expect(trace(wrong)).toBeUndefined();
});
