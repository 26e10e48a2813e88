import { expect, test } from 'bun:test';
import { choosePrimary, Primary } from './primary.ts';
import type { HostState } from './probe.ts';

const ONE = 'postgres://one/db';
const TWO = 'postgres://two/db';

const state = (url: string, timeline: number, systemId = 'A'): HostState => ({
  url,
  isPrimary: timeline > 0,
  timeline,
  systemId: timeline > 0 ? systemId : '',
});
const standby = (url: string) => state(url, 0);
const down = (url: string) => ({ url, error: new Error('connection refused') });

test('the host that is not in recovery is the primary', () => {
  expect(choosePrimary([standby(ONE), state(TWO, 1)], undefined)?.url).toBe(TWO);
  expect(choosePrimary([down(ONE), state(TWO, 1)], undefined)?.url).toBe(TWO);
  expect(choosePrimary([standby(ONE), down(TWO)], undefined)).toBeUndefined();
});

test('of two that accept writes, the one that was promoted later is the primary', () => {
  expect(choosePrimary([state(ONE, 1), state(TWO, 2)], undefined)?.url).toBe(TWO);
  expect(choosePrimary([state(ONE, 1), state(TWO, 2)], state(ONE, 1))?.url).toBe(TWO);
});

test('an old primary is not chosen, even when it is the only one that answers', () => {
  expect(choosePrimary([state(ONE, 1), down(TWO)], state(TWO, 2))).toBeUndefined();
});

test('a primary of another database is not chosen', () => {
  expect(choosePrimary([down(ONE), state(TWO, 5, 'B')], state(ONE, 1, 'A'))).toBeUndefined();
  expect(() => choosePrimary([state(ONE, 1, 'A'), state(TWO, 5, 'B')], undefined)).toThrow(
    'one and two are primaries of different databases',
  );
});

test('where servers do not tell their timeline, the current primary is kept as long as it is one', () => {
  expect(choosePrimary([state(ONE, 1), state(TWO, 1)], state(TWO, 1))?.url).toBe(TWO);
});

test('without a primary the error says what each host is, and nothing of the password', async () => {
  const urls = ['postgres://u:secret@one/db', 'postgres://u:secret@two/db'];
  const found = Primary.find(urls, async (url) => (url.includes('one') ? standby(url) : down(url)));
  const error = await found.catch(String);
  expect(error).toContain('no PostgreSQL host accepts writes (one: a standby; two: connection refused)');
  expect(error).not.toContain('secret');
});

test('callers that fail together share one search, and are notified of the move once', async () => {
  let primaryIs = ONE;
  let probes = 0;
  const primary = await Primary.find([ONE, TWO], async (url) => {
    probes++;
    return url === primaryIs ? state(url, url === TWO ? 2 : 1) : down(url);
  });
  let moves = 0;
  primary.watch(() => moves++);
  primaryIs = TWO;
  probes = 0;
  await Promise.all([primary.search(), primary.search(), primary.search()]);
  primary.close();
  expect([primary.url, probes, moves]).toEqual([TWO, 2, 1]);
});
