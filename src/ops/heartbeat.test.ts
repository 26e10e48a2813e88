import { expect, test } from 'bun:test';
import type { HeartbeatReport } from '../ledger/operations/replicas.ts';
import { createLog } from '../runtime/log/log.ts';
import { Heartbeat } from './heartbeat.ts';

const STATUS: HeartbeatReport = { id: 'me', name: 'host/1', version: '1', phase: 'ready', revision: 7 };

/** A heartbeat with a ledger whose answers the test gives. */
function withLedger(answer: () => Promise<void>) {
  const calls: string[] = [];
  const lines: string[] = [];
  const log = createLog('info', { now: () => 0 }, (line) => lines.push(line));
  const replicas = {
    beat: ({ id, revision }: HeartbeatReport) => {
      calls.push(`beat ${id} ${revision}`);
      return answer();
    },
    leave: (id: string) => {
      calls.push(`leave ${id}`);
      return answer();
    },
  };
  return { heartbeat: new Heartbeat(replicas, log, () => STATUS), calls, lines };
}

test('it beats at once when it starts, and leaves after its last beat', async () => {
  const answer = Promise.withResolvers<void>();
  const { heartbeat, calls } = withLedger(() => answer.promise);
  heartbeat.start();
  heartbeat.beat(); // the first is in progress
  const stopped = heartbeat.stop();
  expect(calls).toEqual(['beat me 7']);
  answer.resolve();
  await stopped;
  expect(calls).toEqual(['beat me 7', 'leave me']);
});

test('a ledger that refuses causes no warning and no failure', async () => {
  const { heartbeat, calls, lines } = withLedger(() => Promise.reject(new Error('connection refused')));
  heartbeat.start();
  await heartbeat.stop();
  expect(calls).toEqual(['beat me 7', 'leave me']);
  expect(lines).toEqual([]);
});

test('a ledger that never answers does not delay a stop', async () => {
  const { heartbeat } = withLedger(() => new Promise(() => {}));
  heartbeat.start();
  await heartbeat.stop();
});
