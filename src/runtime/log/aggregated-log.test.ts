import { expect, test } from 'bun:test';
import { aggregateWarnings } from './aggregated-log.ts';
import { createLog } from './log.ts';

function logged() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { now: () => 0 }, (line) => lines.push(JSON.parse(line)));
  let minuteIsOver = () => {};
  const aggregated = aggregateWarnings(log, (flush) => {
    minuteIsOver = flush;
  });
  return { log: aggregated, lines, minuteIsOver: () => minuteIsOver() };
}

test('a repeated warning is logged once, and then counted once a minute', () => {
  const { log, lines, minuteIsOver } = logged();
  for (let i = 0; i < 300; i++) log.warn('unavailable', { requestId: `r${i}`, message: 'Failed to connect' });
  expect(lines).toMatchObject([{ event: 'unavailable', requestId: 'r0' }]);
  minuteIsOver();
  expect(lines.slice(1)).toMatchObject([
    { event: 'unavailable', message: 'Failed to connect', repeated: 299 },
  ]);
  minuteIsOver();
  minuteIsOver();
  expect(lines).toHaveLength(2);
});

test('a warning that comes back after a quiet minute is logged at once', () => {
  const { log, lines, minuteIsOver } = logged();
  log.warn('feeds', { message: 'late' });
  minuteIsOver();
  log.warn('feeds', { message: 'late' });
  expect(lines).toHaveLength(2);
});

test('warnings with different messages are logged separately, unless only numbers differ', () => {
  const { log, lines } = logged();
  log.warn('feeds', { message: 'feed ecb failed' });
  log.warn('feeds', { message: 'feed fred failed' });
  log.warn('quota', { message: 'tried again in 100 ms' });
  log.warn('quota', { message: 'tried again in 200 ms' });
  expect(lines.map(({ message }) => message)).toEqual([
    'feed ecb failed',
    'feed fred failed',
    'tried again in 100 ms',
  ]);
});

test('errors and information are never aggregated', () => {
  const { log, lines } = logged();
  for (let i = 0; i < 3; i++) log.error('request failed', { message: 'the same' });
  for (let i = 0; i < 3; i++) log.info('ready');
  expect(lines).toHaveLength(6);
});
