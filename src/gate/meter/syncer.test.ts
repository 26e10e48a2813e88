import { expect, test } from 'bun:test';
import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import { systemScheduler } from '../../runtime/scheduler.ts';
import { Syncer, type SyncParty } from './syncer.ts';

test('requests are handled between the calls that report many accounts', async () => {
  let turn = 0;
  const countTurns = () => {
    turn++;
    next = setImmediate(countTurns);
  };
  let next = setImmediate(countTurns);
  const turnsOfCalls: number[] = [];
  const syncer = new Syncer({
    async sync(requests) {
      turnsOfCalls.push(turn);
      return requests.map(() => ({}) as SyncAnswer);
    },
    now: () => ({ wall: 0, mono: 0 }),
    scheduler: systemScheduler,
    warn() {},
    batchMax: { urgent: 10, background: 2 },
    onCall() {},
  });
  for (let i = 0; i < 10; i++) syncer.enqueue(party());
  await syncer.idle();
  clearImmediate(next);
  expect(turnsOfCalls).toHaveLength(5);
  expect(new Set(turnsOfCalls).size).toBe(5);
});

test('a call for which requests wait is about as many of them as possible, and few others', async () => {
  const sizes: number[] = [];
  const syncer = new Syncer({
    async sync(requests) {
      sizes.push(requests.length);
      return requests.map(() => ({}) as SyncAnswer);
    },
    now: () => ({ wall: 0, mono: 0 }),
    scheduler: systemScheduler,
    warn() {},
    batchMax: { urgent: 5, background: 2 },
    onCall() {},
  });
  for (let i = 0; i < 9; i++) syncer.enqueue(party(), true);
  for (let i = 0; i < 5; i++) syncer.enqueue(party());
  await syncer.idle();
  expect(sizes).toEqual([5, 4, 2, 2, 1]);
});

function party(): SyncParty {
  return { syncRequest: () => ({}) as SyncRequest, onAnswer() {}, onUnreachable() {} };
}
