import { afterEach, expect, test } from 'bun:test';
import { outageOf } from '../../ledger/engine/errors.ts';
import type { LedgerRequest } from './protocol.ts';
import { Readers } from './readers.ts';

const script = new URL('../../../test/support/scripted-reader.ts', import.meta.url);
const gate = new BroadcastChannel('scripted-reader');
let readers: Readers | undefined;

afterEach(async () => {
  await readers?.close();
  readers = undefined;
});

/** Asks for an account, and notes what is handed to a thread and what has been read. */
function asker() {
  const pool = new Readers({ ledgerUrl: '', standbyUrl: undefined, simulated: false, script });
  readers = pool;
  const started: string[] = [];
  const done: string[] = [];
  const ask = async (account: string, query: string, isWanted = () => true) => {
    const place = pool.enter(account);
    try {
      await place.read(requestOf(query), () => {
        started.push(query);
        return isWanted();
      });
      done.push(query);
    } finally {
      place.leave();
    }
  };
  return { pool, started, done, ask };
}

function requestOf(query: string): LedgerRequest {
  const plan = {} as LedgerRequest['plan'];
  const known = { epoch: '', revision: 0, catalogRevision: 0 };
  return { endpoint: 'history', query, plan, now: 0, horizon: 0, format: 'json', gzip: false, known };
}

/** Opens the gate that two reads wait at, once both have come to it. Called before they are asked for. */
function releaseTwo(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  gate.onmessage = () => {
    if (++waiting < 2) return;
    gate.postMessage('go on');
    resolve();
  };
  return promise;
}

test('accounts take turns, so one with many requests delays another by one', async () => {
  const { started, ask } = asker();
  const released = releaseTwo();
  const blocking = [ask('greedy', 'wait 1'), ask('other', 'wait 2')];
  const waiting = Array.from({ length: 10 }, (_, i) => ask('greedy', `greedy ${i}`));
  waiting.push(ask('modest', 'modest'));
  await released;
  await Promise.all([...blocking, ...waiting]);
  expect(started.indexOf('modest')).toBeLessThanOrEqual(3);
});

test('an account reads in one thread at a time, so a thread is there for others', async () => {
  const { started, done, ask } = asker();
  const { promise: isReading, resolve } = Promise.withResolvers<void>();
  gate.onmessage = () => resolve();
  const greedy = [ask('greedy', 'wait 1'), ask('greedy', 'greedy 2')];
  await isReading;
  await ask('modest', 'modest');
  expect({ started, done }).toEqual({ started: ['wait 1', 'modest'], done: ['modest'] });
  gate.postMessage('go on');
  await Promise.all(greedy);
  expect(done).toEqual(['modest', 'wait 1', 'greedy 2']);
});

test('a request whose client has left is not read', async () => {
  const { done, ask } = asker();
  const released = releaseTwo();
  const blocking = [ask('a', 'wait 1'), ask('b', 'wait 2')];
  let isWanted = true;
  const left = ask('a', 'left', () => isWanted).catch((error) => outageOf(error));
  isWanted = false;
  await released;
  await Promise.all(blocking);
  expect(await left).toBe('the client is gone');
  expect(done).not.toContain('left');
});

test('a thread that dies costs its own request a 503, and the next request starts another', async () => {
  const { done, ask } = asker();
  const died = await Promise.all([1, 2, 3].map(() => ask('a', 'die').catch((error) => outageOf(error))));
  expect(died).toEqual(Array(3).fill('what reads the past is being started again'));
  await ask('a', 'after');
  expect(done).toEqual(['after']);
});

test('an outage of the ledger arrives as one', async () => {
  const { pool, ask } = asker();
  expect(await ask('a', 'outage').catch((error) => outageOf(error))).toBe('its ledger cannot be reached');
  expect(pool.size).toBe(0);
});

test('an account has at most 32 places, all accounts together 1,000', () => {
  const { pool } = asker();
  const places = Array.from({ length: 32 }, () => pool.enter('a'));
  expect(() => pool.enter('a')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  places[0]!.leave();
  places[0]!.leave(); // a second time has no effect
  places[0] = pool.enter('a');
  expect(() => pool.enter('a')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  for (let i = 0; pool.size < 1_000; i++) places.push(pool.enter(`account ${i}`));
  expect(() => pool.enter('one more')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  for (const place of places) place.leave();
  expect(pool.size).toBe(0);
});

test('closing refuses what waits and ends', async () => {
  const { pool, ask } = asker();
  const all = ['wait 1', 'wait 2', 'three'].map((query) => ask('a', query).catch((error) => outageOf(error)));
  await pool.close();
  expect((await Promise.all(all)).at(-1)).toBe('it is stopping');
});
