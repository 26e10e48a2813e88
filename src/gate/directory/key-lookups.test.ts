import { expect, test } from 'bun:test';
import type { FoundKey } from '../../ledger/accounts/accounts.ts';
import { KeyLookups } from './key-lookups.ts';

const FOUND = { key: { id: 'key_1' } } as FoundKey;

/** A ledger whose queries and pauses the test ends. Every hash that begins with `good` is known. */
function setUp() {
  const queries: { hashes: readonly string[]; end(): Promise<void>; fail(): Promise<void> }[] = [];
  const pauses: (() => Promise<void>)[] = [];
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
    () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      pauses.push(() => {
        resolve();
        return settle();
      });
      return promise;
    },
  );
  return { lookups, queries, pauses, settle };
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
  const { lookups, queries, pauses, settle } = setUp();
  const first = lookups.find('good1', true);
  await settle();
  const later = Array.from({ length: 1_500 }, (_, i) => lookups.find(i === 0 ? 'good2' : `bad${i}`, true));
  expect(queries.length).toBe(1);
  await queries[0]!.end();
  expect(await first).toBe(FOUND);
  expect(queries.length).toBe(1); // it pauses
  await pauses[0]!();
  expect(queries.map(({ hashes }) => hashes.length)).toEqual([1, 1_024]);
  await queries[1]!.end();
  expect(await later[0]).toBe(FOUND); // first come, first served
  await pauses[1]!();
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
  const { lookups, queries, pauses, settle } = setUp();
  const first = lookups.find('good1', true);
  await settle();
  const second = lookups.find('good2', true);
  const failure = first.catch((error: Error) => error.message);
  await queries[0]!.fail();
  expect(await failure).toBe('away');
  await pauses[0]!();
  await queries[1]!.end();
  expect(await second).toBe(FOUND);
});
