import { expect, test } from 'bun:test';
import type { FoundKey } from '../../ledger/accounts/accounts.ts';
import { outageReason } from '../../ledger/engine/errors.ts';
import { KeyLookups } from './key-lookups.ts';

const PAUSE_MS = 100;
const LOOKUP_MS_MAX = 5_000;
const FOUND = { key: { id: 'key_1' } } as FoundKey;

/** A ledger whose queries the test ends, and timers that it lets expire. Every hash that begins with `good` is known. */
function setUp() {
  const queries: { hashes: readonly string[]; end(): Promise<void>; fail(): Promise<void> }[] = [];
  const timers: { ms: number; expire(): Promise<void> }[] = [];
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const lookups = new KeyLookups(
    (hashes) => {
      const { promise, resolve, reject } = Promise.withResolvers<Map<string, FoundKey>>();
      const known = hashes.filter((hash) => hash.startsWith('good'));
      queries.push({
        hashes,
        end() {
          resolve(new Map(known.map((hash) => [hash, FOUND])));
          return settle();
        },
        fail() {
          reject(new Error('away'));
          return settle();
        },
      });
      return promise;
    },
    {
      after(ms, callback) {
        const timer = {
          ms,
          expire() {
            remove();
            callback();
            return settle();
          },
        };
        const remove = () => void timers.splice(timers.indexOf(timer), 1);
        timers.push(timer);
        return remove;
      },
    },
  );
  /** The timers that have neither expired nor been canceled. */
  const pending = (ms: number) => timers.filter((timer) => timer.ms === ms);
  return { lookups, queries, pending, settle };
}

test('keys that arrive in one turn of the event loop share one query', async () => {
  const { lookups, queries, settle } = setUp();
  for (let i = 0; i < 32; i++) void lookups.find(`bad${i}`, false);
  await settle();
  expect(queries.map(({ hashes }) => hashes.length)).toEqual([32]);
});

test('keys that arrive while four queries are running share the next one', async () => {
  const { lookups, queries, settle } = setUp();
  const first: Promise<FoundKey | undefined>[] = [];
  for (const hash of ['a', 'b', 'good1', 'c']) {
    first.push(lookups.find(hash, false));
    await settle();
  }
  const later = Array.from({ length: 500 }, (_, i) => lookups.find(i === 99 ? 'good2' : `bad${i}`, false));
  expect(queries.map(({ hashes }) => hashes.length)).toEqual([1, 1, 1, 1]);
  for (const { end } of queries.slice(0, 4)) await end();
  expect(queries.map(({ hashes }) => hashes.length)).toEqual([1, 1, 1, 1, 500]);
  await queries[4]!.end();
  expect(await Promise.all(first)).toEqual([undefined, undefined, FOUND, undefined]);
  expect((await Promise.all(later)).filter(Boolean)).toEqual([FOUND]);
  expect(await later[99]).toBe(FOUND);
});

test('paced lookups run one query at a time, with a pause between them', async () => {
  const { lookups, queries, pending, settle } = setUp();
  const first = lookups.find('good1', true);
  await settle();
  const later = Array.from({ length: 1_500 }, (_, i) => lookups.find(i === 0 ? 'good2' : `bad${i}`, true));
  expect(queries.length).toBe(1);
  await queries[0]!.end();
  expect(await first).toBe(FOUND);
  expect(queries.length).toBe(1); // it pauses
  await pending(PAUSE_MS)[0]!.expire();
  expect(queries.map(({ hashes }) => hashes.length)).toEqual([1, 1_024]);
  await queries[1]!.end();
  expect(await later[0]).toBe(FOUND); // first come, first served
  await pending(PAUSE_MS)[0]!.expire();
  expect(queries.map(({ hashes }) => hashes.length)).toEqual([1, 1_024, 476]);
});

test('paced lookups do not delay prompt ones', async () => {
  const { lookups, queries, settle } = setUp();
  void lookups.find('bad', true);
  const prompt = lookups.find('good', false);
  await settle();
  await queries[1]!.end();
  expect(await prompt).toBe(FOUND);
});

test('concurrent lookups of the same key share one query', async () => {
  const { lookups, queries, settle } = setUp();
  void lookups.find('bad', true);
  const lookedUp = Array.from({ length: 10 }, () => lookups.find('good', true));
  await settle();
  await queries[0]!.end();
  expect(new Set(lookedUp).size).toBe(1);
});

test('a failed query rejects its own keys, and later keys are looked up', async () => {
  const { lookups, queries, pending, settle } = setUp();
  const first = lookups.find('good1', true);
  await settle();
  const second = lookups.find('good2', true);
  const failure = first.catch((error: Error) => error.message);
  await queries[0]!.fail();
  expect(await failure).toBe('away');
  await pending(PAUSE_MS)[0]!.expire();
  await queries[1]!.end();
  expect(await second).toBe(FOUND);
});

for (const isPaced of [false, true]) {
  test(`a ${isPaced ? 'paced' : 'prompt'} lookup behind hung queries fails 5 s after it was requested, and is not sent`, async () => {
    const { lookups, queries, pending, settle } = setUp();
    for (const hash of isPaced ? ['a'] : ['a', 'b', 'c', 'd']) {
      lookups.find(hash, isPaced).catch(() => {});
      await settle();
    }
    const hung = queries.length;
    const reason = lookups.find('good1', isPaced).catch((error) => outageReason(error));
    await pending(LOOKUP_MS_MAX).at(-1)!.expire();
    expect(await reason).toBe('its ledger cannot be reached');
    const next = lookups.find('good2', isPaced);
    await queries[0]!.fail();
    if (isPaced) await pending(PAUSE_MS)[0]!.expire();
    expect(queries.slice(hung).map(({ hashes }) => hashes)).toEqual([['good2']]);
    await queries[hung]!.end();
    expect(await next).toBe(FOUND);
  });
}

test('a lookup whose own query hangs fails after 5 s, and one that is done leaves no timer', async () => {
  const { lookups, queries, pending, settle } = setUp();
  const hung = lookups.find('good1', false).catch((error) => outageReason(error));
  await settle();
  await pending(LOOKUP_MS_MAX)[0]!.expire();
  expect(await hung).toBe('its ledger cannot be reached');
  const later = lookups.find('good1', false);
  await settle();
  await queries[1]!.end();
  expect(await later).toBe(FOUND);
  await queries[0]!.end(); // too late
  expect(pending(LOOKUP_MS_MAX)).toEqual([]);
});
