import { ClientAddress } from '../../src/api/access/client-address.ts';
import { readBar, readTick } from '../../src/api/admin/push/push-body.ts';
import { Refusal } from '../../src/api/errors/errors.ts';
import { QueryParams, readQuery, readTarget } from '../../src/api/model/query.ts';
import { printCursor, readCursor } from '../../src/api/params/cursor.ts';
import { readSymbolSet } from '../../src/api/params/parameters.ts';
import { readByteRange } from '../../src/api/parquet/byte-range.ts';
import { etagOfEncoding, matches } from '../../src/api/response/etag.ts';
import { formatAccepted } from '../../src/api/response/format.ts';
import { acceptsGzip } from '../../src/api/response/gzip.ts';
import { Router } from '../../src/api/routing/router.ts';
import { AddressList, isAddressOrRange, limitKey } from '../../src/gate/addresses.ts';
import { createKey, isWellFormed, redactKeys } from '../../src/gate/key.ts';
import { BUILT_IN_PLANS } from '../../src/ledger/accounts/built-in-plans.ts';
import { parseDay, printDay } from '../../src/market/day.ts';
import { parseNumber, printNumber } from '../../src/market/decimal.ts';
import { evaluate } from '../../src/market/formula/evaluate.ts';
import { readFormula } from '../../src/market/formula/read.ts';
import { law, textTarget } from './target.ts';

const KEY = createKey(() => new Uint8Array(64).fill(7));
const NOW = Date.UTC(2026, 0, 15);
const ROUTER = new Router<string>(
  ['', '/v1'].map((path) => ({ path, dialect: 'v1' as const })),
  {
    formatted: { '/rates/latest.csv': { route: 'latest', format: 'csv' } },
    mounted: { '/rates/latest': 'latest', '/keys/:id/rotate': 'rotate' },
    root: { '/': 'page', '/assets/:id': 'asset' },
    named: ['/rates/latest'],
  },
);

/** Parsers of the parts of a request. */
export const REQUEST_TARGETS = [
  textTarget('key', [KEY, `x${KEY}`, 'pit_live_'], ['pit_live_', '0', 'z'], (text) => {
    if (isWellFormed(text)) law(/^pit_live_[0-9A-Za-z]{36}$/.test(text), 'a key of another form');
    law(!/pit_live_[0-9a-z]/i.test(redactKeys(text)), 'a key was left in a message');
  }),
  textTarget('byte-range', ['bytes=0-99', 'bytes=-8', 'bytes=5-'], ['bytes=', '-', ',', '0', '9'], (text) => {
    const range = readByteRange(text, 1_000);
    if (typeof range !== 'object') return;
    const isInside = range.start >= 0 && range.start < range.end && range.end <= 1_000;
    law(isInside, `${text} became ${range.start} to ${range.end}`);
  }),
  textTarget('day', ['2024-02-29', '1900-01-01', '2199-12-31'], ['-', '02', '29', '30', '12'], (text) => {
    const day = parseDay(text);
    if (day !== undefined) law(printDay(day) === text, `${text} became ${printDay(day)}`);
  }),
  textTarget('number', ['-37.63', '1e5', '0.1', '.5'], ['e', '-', '.', '0', '9', '+', '_'], (text) => {
    const number = parseNumber(text);
    if (number === undefined) return;
    law(Number.isFinite(number), 'not finite');
    law(parseNumber(printNumber(number)) === number, `${text} prints as ${printNumber(number)}`);
  }),
  textTarget(
    'formula',
    ['(2*{RB-FUT}*42+{HO-FUT}*42-3*{WTIOIL-FUT})/3', '-{XAU}/-(.5 {xag})', '{A}-({B}-{C})/({A}/2)'],
    ['{XAU}', '{', '}', '(', ')', '+', '-', '*', '/', ' ', '0', '.5', '42'],
    (text) => {
      const formula = readFormula(text);
      if ('problem' in formula) {
        law(formula.problem !== '', 'no reason');
        return;
      }
      const again = readFormula(formula.text);
      law(!('problem' in again), `${formula.text} is not read again`);
      if ('problem' in again) return;
      law(again.text === formula.text, `${formula.text} became ${again.text}`);
      const priceOf = (code: string) => 1.25 + code.length;
      const [value, same] = [formula, again].map(({ expression }) => evaluate(expression, priceOf));
      law(Object.is(value, same), `${text} is ${value}, and ${formula.text} is ${same}`);
      law(value === undefined || Number.isFinite(value), `${text} is ${value}`);
    },
  ),
  textTarget(
    'query',
    ['a=1&b=%20+&a=2', 'symbols=XAU%2CXAG'],
    ['&', '=', '%', '+', '%41', '%ff', 'symbols'],
    (text) => {
      const query = readQuery(text);
      const pairs = text.split('&').filter((pair) => pair !== '').length;
      const values = [...query].reduce((sum, param) => sum + param.values.length, 0);
      law(values === pairs, `${pairs} pairs became ${values} values`);
      orRefusal(() => {
        const { codes } = readSymbolSet(query, BUILT_IN_PLANS[0]!);
        law(
          new Set(codes).size === codes.length && !codes.includes(''),
          'doubles or empties among the codes',
        );
      });
    },
  ),
  textTarget(
    'url',
    ['http://a/b?c', '/x', 'a:443', '//', 'http://a/keys/%41/rotate'],
    ['/', '?', ':', '%2f', '%00', '..'],
    (text) => {
      const { path, query } = readTarget(text);
      law(text.endsWith(query === '' ? '' : `?${query}`), 'the query is not the end');
      law(text.includes(path), 'the path is not a part');
      const found = ROUTER.find(path);
      if (found)
        law(!/\p{Cc}/u.test(found.id) || path.includes(found.id), 'an escape became a control character');
      ROUTER.hint(path);
    },
  ),
  textTarget(
    'if-none-match',
    ['W/"abc", "x"', '*', '"abc-gzip"'],
    ['W/', '"', ',', '-gzip', '*', 'abc'],
    (header) => {
      matches(header, 'W/"abc"');
      law(matches(`${header}, "abc"`, 'W/"abc"'), 'a tag in the list was not found');
      law(matches(etagOfEncoding('W/"abc"', 'gzip'), '"abc"'), 'the tag of an encoding was not found');
    },
  ),
  textTarget(
    'accept',
    ['text/csv;q=0.5, */*;q=0.1', 'application/x-ndjson'],
    ['text/csv', ';q=', ',', '*/*', '0.5', 'json'],
    (header) => {
      law(['json', 'csv', 'ndjson'].includes(formatAccepted(header)), 'no format');
    },
  ),
  textTarget(
    'accept-encoding',
    ['gzip;q=0, *', 'gzip, deflate, br'],
    ['gzip', ';q=', ',', '*', '0'],
    (header) => {
      law(typeof acceptsGzip(header) === 'boolean', 'no answer');
    },
  ),
  textTarget(
    'cursor',
    [printCursor({ day: 20_000, symbolIndex: 3 }, 'q'), 'MSAyIGE'],
    ['=', '_', '-'],
    (text) => {
      const cursor = orRefusal(() => readCursor(cursorParam(text), 'q'));
      if (!cursor) return;
      const again = readCursor(cursorParam(printCursor(cursor, 'q')), 'q');
      law(
        again?.day === cursor.day && again.symbolIndex === cursor.symbolIndex,
        'a cursor that does not come back',
      );
    },
  ),
  textTarget(
    'address',
    ['::ffff:1.2.3.4', '2001:db8::7/64', '10.0.0.0/8', 'fe80::1%eth0'],
    [':', '::', '.', '/', '255', '%'],
    (text) => {
      law(limitKey(text).length <= 64, 'a key of any length');
      if (isAddressOrRange(text)) new AddressList([text]).has(text.split('/', 1)[0]!);
      const client = new ClientAddress(['10.0.0.0/8']);
      law(client.of('192.0.2.1', text) === '192.0.2.1', 'a stranger was believed');
      client.of('10.0.0.1', text);
    },
  ),
  textTarget(
    'push',
    [
      '{"symbol":"XAU","price":1.5,"at":"2026-01-02T10:00:00Z","id":"a"}',
      '{"symbol":"XAU","date":"2026-01-02","price":"1"}',
    ],
    ['"', ':', ',', '{', '}', '__proto__', '1e309', 'null', '\\u0000', '"at":', 'Z', '+02:00'],
    (text) => {
      let record: unknown;
      try {
        record = JSON.parse(text);
      } catch {
        return;
      }
      const tick = readTick(record, NOW);
      if (!('reason' in tick))
        law(
          Number.isFinite(tick.price) && Number.isInteger(tick.at) && tick.at <= NOW + 60_000,
          'a bad tick',
        );
      const bar = readBar(record);
      if (!('reason' in bar))
        law([bar.open, bar.high, bar.low, bar.close].every(Number.isFinite), 'a bad bar');
    },
  ),
];

function orRefusal<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refusal && error.status === 400) return undefined;
    throw error;
  }
}

function cursorParam(text: string): QueryParams {
  return new QueryParams(new Map([['cursor', [text]]]));
}
