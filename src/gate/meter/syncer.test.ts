import { expect, test } from 'bun:test';
import type { SyncAnswer, SyncRequest } from '../../ledger/quota/model.ts';
import { systemScheduler } from '../../runtime/scheduler.ts';
import { Syncer } from './syncer.ts';

test('requests are handled between the calls that report many accounts', async () => {
  let turn = 0;
  const countTurns = () => {
    turn++;
    next = setImmediate(countTurns);
  };
  let next = setImmediate(countTurns);
  const turnsOfCalls: number[] = [];
  const syncer = new Syncer({
    holder: {
      async sync(requests) {
        turnsOfCalls.push(turn);
        return requests.map(() => ({}) as SyncAnswer);
      },
    },
    time: { read: () => ({ wall: 0, mono: 0 }) },
    scheduler: systemScheduler,
    warn() {},
    batchMax: 2,
  });
  for (let i = 0; i < 10; i++) {
    syncer.enqueue({ syncRequest: () => ({}) as SyncRequest, onAnswer() {}, onUnreachable() {} });
  }
  await syncer.idle();
  clearImmediate(next);
  expect(turnsOfCalls).toHaveLength(5);
  expect(new Set(turnsOfCalls).size).toBe(5);
});
