import { afterEach, expect, test } from 'bun:test';
import { outageReason } from '../../ledger/engine/errors.ts';
import { DIALECTS } from '../versions/dialects.ts';
import type { LedgerRequest } from './protocol.ts';
import { ReaderPool } from './reader-pool.ts';

const script = new URL('../../../test/support/children/scripted-reader.ts', import.meta.url);
const gate = new BroadcastChannel('scripted-reader');
let openPool: ReaderPool | undefined;

afterEach(async () => {
  await openPool?.close();
  openPool = undefined;
});

/** Opens a pool, and records which requests have started and which are done. */
function recordingPool() {
  const pool = new ReaderPool({ ledgerUrl: '', standbyUrl: undefined, simulated: false, script });
  openPool = pool;
  const started: string[] = [];
  const done: string[] = [];
  const request = async (account: string, query: string, isWanted = () => true) => {
    const slot = pool.reserve(account);
    try {
      await slot.read(requestOf(query), () => {
        started.push(query);
        return isWanted();
      });
      done.push(query);
    } finally {
      slot.release();
    }
  };
  return { pool, started, done, request };
}

function requestOf(query: string): LedgerRequest {
  const plan = {} as LedgerRequest['plan'];
  const known = { epoch: '', revision: 0, catalogRevision: 0 };
  return {
    endpoint: 'history',
    query,
    plan,
    now: 0,
    horizon: 0,
    format: 'json',
    gzip: false,
    warnings: [],
    dialect: DIALECTS.v1,
    known,
  };
}

/** Releases two blocked reads once both have started. Call it before requesting them. */
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

test('accounts take turns, so an account with many requests delays another by at most one', async () => {
  const { started, request } = recordingPool();
  const released = releaseTwo();
  const blocking = [request('greedy', 'wait 1'), request('other', 'wait 2')];
  const waiting = Array.from({ length: 10 }, (_, i) => request('greedy', `greedy ${i}`));
  waiting.push(request('modest', 'modest'));
  await released;
  await Promise.all([...blocking, ...waiting]);
  expect(started.indexOf('modest')).toBeLessThanOrEqual(3);
});

test('an account uses one thread at a time, so the other thread serves other accounts', async () => {
  const { started, done, request } = recordingPool();
  const { promise: isReading, resolve } = Promise.withResolvers<void>();
  gate.onmessage = () => resolve();
  const greedy = [request('greedy', 'wait 1'), request('greedy', 'greedy 2')];
  await isReading;
  await request('modest', 'modest');
  expect({ started, done }).toEqual({ started: ['wait 1', 'modest'], done: ['modest'] });
  gate.postMessage('go on');
  await Promise.all(greedy);
  expect(done).toEqual(['modest', 'wait 1', 'greedy 2']);
});

test('a request whose client has left is not read', async () => {
  const { done, request } = recordingPool();
  const released = releaseTwo();
  const blocking = [request('a', 'wait 1'), request('b', 'wait 2')];
  let isWanted = true;
  const left = request('a', 'left', () => isWanted).catch((error) => outageReason(error));
  isWanted = false;
  await released;
  await Promise.all(blocking);
  expect(await left).toBe('the client is gone');
  expect(done).not.toContain('left');
});

test('a thread that dies fails only its own request, and the next request starts a new one', async () => {
  const { done, request } = recordingPool();
  const died = await Promise.all(
    [1, 2, 3].map(() => request('a', 'die').catch((error) => outageReason(error))),
  );
  expect(died).toEqual(Array(3).fill('its ledger reader is restarting'));
  await request('a', 'after');
  expect(done).toEqual(['after']);
});

test('an outage of the ledger is still recognized after crossing threads', async () => {
  const { pool, request } = recordingPool();
  expect(await request('a', 'outage').catch((error) => outageReason(error))).toBe(
    'its ledger cannot be reached',
  );
  expect(pool.size).toBe(0);
});

test('when the ledger does not respond, running and queued requests fail at once, and later ones are read', async () => {
  const { pool, done, request } = recordingPool();
  const { promise: isReading, resolve } = Promise.withResolvers<void>();
  gate.onmessage = () => resolve();
  const all = ['wait 1', 'two', 'three'].map((query) =>
    request('a', query).catch((error) => outageReason(error)),
  );
  await isReading;
  pool.failAll();
  expect(await Promise.all(all)).toEqual(Array(3).fill('its ledger cannot be reached'));
  expect(pool.size).toBe(0);
  const later = request('a', 'later');
  gate.postMessage('go on'); // the thread is free again
  await later;
  expect(done).toEqual(['later']);
});

test('an account has at most 32 slots, all accounts together 1,000', () => {
  const { pool } = recordingPool();
  const slots = Array.from({ length: 32 }, () => pool.reserve('a'));
  expect(() => pool.reserve('a')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  slots[0]!.release();
  slots[0]!.release(); // a second time has no effect
  slots[0] = pool.reserve('a');
  expect(() => pool.reserve('a')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  for (let i = 0; pool.size < 1_000; i++) slots.push(pool.reserve(`account ${i}`));
  expect(() => pool.reserve('one more')).toThrow(expect.objectContaining({ code: 'unavailable' }));
  for (const slot of slots) slot.release();
  expect(pool.size).toBe(0);
});

test('closing the pool rejects queued requests', async () => {
  const { pool, request } = recordingPool();
  const all = ['wait 1', 'wait 2', 'three'].map((query) =>
    request('a', query).catch((error) => outageReason(error)),
  );
  await pool.close();
  expect((await Promise.all(all)).at(-1)).toBe('it is stopping');
});
