import { expect, test } from 'bun:test';
import { Refusal } from '../../src/api/errors/errors.ts';
import { QueryParams, readQuery } from '../../src/api/model/query.ts';
import { readCursor } from '../../src/api/params/cursor.ts';
import { matches } from '../../src/api/response/etag.ts';
import { formatAccepted } from '../../src/api/response/format.ts';
import { acceptsGzip } from '../../src/api/response/gzip.ts';
import { Router } from '../../src/api/routing/router.ts';
import { limitKey } from '../../src/gate/addresses.ts';
import { isWellFormed, redactKeys } from '../../src/gate/key.ts';
import { parseDay } from '../../src/market/day.ts';
import { parseNumber } from '../../src/market/decimal.ts';

/** The input that is parsed before a key is checked: 16 KB of head. */
const BYTES = 16_000;
/** CPU time of a quadratic pattern on this machine, whatever its speed. Linear work takes a small part of it. */
const QUADRATIC_MS = cpuMsOf(() => / +$/.test(`${' '.repeat(BYTES)}x`));
const MS_MAX = QUADRATIC_MS / 4;

/** Inputs that make bad patterns backtrack: repetitions with an end that does not match. */
const LONG = [
  '/',
  ' ',
  ',',
  ';',
  '0',
  '1',
  'a',
  '%',
  '%41',
  '"',
  'W/"",',
  'q=',
  '::',
  '1.',
  '-',
  '\t',
  'pit_live_',
].flatMap((part) => {
  const text = part.repeat(Math.floor(BYTES / part.length));
  return [text, `${text}x`, `x${text}`, `x${text}x`];
});

const router = new Router<string>(
  ['', '/v1'].map((path) => ({ path, dialect: 'v1' as const })),
  { formatted: {}, mounted: { '/a/:id': 'a' }, root: {}, named: ['/a'] },
);

const READERS: readonly [name: string, read: (text: string) => unknown][] = [
  ['the way to a path', (text) => router.find(`/${text}`)],
  ['the hint for a wrong path', (text) => router.hint(`/${text}`)],
  ['the hint under a mount', (text) => router.hint(`/v1/${text}`)],
  ['the query', readQuery],
  ['a cursor', (text) => readCursor(new QueryParams(new Map([['cursor', [text]]])), 'q')],
  ['If-None-Match', (text) => matches(text, 'W/"abc"')],
  ['Accept', formatAccepted],
  ['Accept-Encoding', acceptsGzip],
  ['a key', isWellFormed],
  ['a message without keys', redactKeys],
  ['an address', limitKey],
  ['a day', parseDay],
  ['a number', parseNumber],
];

test.each(READERS)('no input makes %s slow', (_, read) => {
  for (const text of LONG) {
    const least = Math.min(...[1, 2, 3].map(() => cpuMsOf(() => read(text)))); // the JIT compiler's threads may interfere once, not three times
    expect(least, JSON.stringify(text.slice(0, 20))).toBeLessThan(MS_MAX);
  }
});

/** CPU time, which does not depend on the load of the machine. */
function cpuMsOf(work: () => unknown): number {
  const start = process.cpuUsage();
  try {
    work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}
