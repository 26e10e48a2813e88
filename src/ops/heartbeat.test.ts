import { expect, test } from 'bun:test';
import type { Beat } from '../ledger/operations/replicas.ts';
import { createLog } from '../runtime/log/log.ts';
import { Heartbeat } from './heartbeat.ts';

const SAID: Beat = { id: 'me', name: 'host/1', version: '1', phase: 'ready', revision: 7 };

/** A ledger whose answers the test gives. */
function played(answer: () => Promise<void>) {
  const calls: string[] = [];
  const lines: string[] = [];
  const log = createLog('info', { now: () => 0 }, (line) => lines.push(line));
  const replicas = {
    beat: ({ id, revision }: Beat) => {
      calls.push(`beat ${id} ${revision}`);
      return answer();
    },
    leave: (id: string) => {
      calls.push(`leave ${id}`);
      return answer();
    },
  };
  return { heartbeat: new Heartbeat(replicas, log, () => SAID), calls, lines };
}

test('it speaks at once when it starts, and takes its leave after its last word', async () => {
  const word = Promise.withResolvers<void>();
  const { heartbeat, calls } = played(() => word.promise);
  heartbeat.start();
  heartbeat.beat(); // the first is still under way
  const stopped = heartbeat.stop();
  expect(calls).toEqual(['beat me 7']);
  word.resolve();
  await stopped;
  expect(calls).toEqual(['beat me 7', 'leave me']);
});

test('a ledger that refuses leaves no line in the log and stops nothing', async () => {
  const { heartbeat, calls, lines } = played(() => Promise.reject(new Error('connection refused')));
  heartbeat.start();
  await heartbeat.stop();
  expect(calls).toEqual(['beat me 7', 'leave me']);
  expect(lines).toEqual([]);
});

test('a ledger that never answers does not hold up a stop', async () => {
  const { heartbeat } = played(() => new Promise(() => {}));
  heartbeat.start();
  await heartbeat.stop();
});
