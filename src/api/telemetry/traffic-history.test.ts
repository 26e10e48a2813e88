import { expect, test } from 'bun:test';
import { LATENCY_BUCKETS, quantileMs } from '../../runtime/metrics/histogram.ts';
import { Metrics } from './metrics.ts';
import { mergeTraffic, TRAFFIC_MINUTES, TrafficHistory } from './traffic-history.ts';

const MINUTE = 60_000;

function newHistory() {
  const clock = { time: 0, now: () => clock.time };
  const metrics = new Metrics([]);
  const lag = { seconds: 0 };
  return { clock, metrics, lag, history: new TrafficHistory(metrics, clock, () => lag.seconds) };
}

test('requests belong to the minute in which they were sampled', () => {
  const { clock, metrics, history } = newHistory();
  metrics.counter('latest', 200).add(3);
  history.sample();
  clock.time = MINUTE;
  metrics.counter('latest', 429).add(1);
  metrics.counter('latest', 500).add(1);
  expect(history.read()).toMatchObject([
    { at: 0, requests: 1, refused: 0, failed: 0 },
    { at: MINUTE, requests: 2, refused: 1, failed: 1 },
  ]);
});

test('what operators, monitors and the page’s files do is not traffic', () => {
  const { metrics, history } = newHistory();
  for (const endpoint of ['admin', 'other', 'page']) metrics.counter(endpoint, 200).add(1);
  expect(history.read()).toMatchObject([{ requests: 0 }]);
});

test('the longest lag of a minute is kept', () => {
  const { lag, history } = newHistory();
  lag.seconds = 7;
  history.sample();
  lag.seconds = 0;
  expect(history.read()).toMatchObject([{ lagSeconds: 7 }]);
});

test('memory is bounded', () => {
  const { clock, history } = newHistory();
  for (let minute = 0; minute < TRAFFIC_MINUTES + 10; minute++) {
    clock.time = minute * MINUTE;
    history.sample();
  }
  expect(history.read()).toHaveLength(TRAFFIC_MINUTES);
});

test('after the clock was set back, requests belong to the minutes that it now shows, each of which is listed once', () => {
  const { clock, metrics, history } = newHistory();
  for (const minute of [58, 59, 60, 58, 59]) {
    clock.time = minute * MINUTE;
    metrics.counter('latest', 200).add(1);
    history.sample();
  }
  expect(history.read().map(({ at, requests }) => [at / MINUTE, requests])).toEqual([
    [58, 2],
    [59, 1],
  ]);
});

test('the minutes of several processes are added up', () => {
  const [one, two] = [newHistory(), newHistory()];
  one.metrics.counter('latest', 200).add(3);
  two.metrics.counter('latest', 200).add(300);
  two.lag.seconds = 2;
  const [minute] = mergeTraffic([one.history.read(), two.history.read()]);
  expect(minute).toMatchObject({ requests: 2, lagSeconds: 2 });
  expect(minute!.latency.reduce((sum, count) => sum + count)).toBe(2);
});

test('a quantile lies in the bucket of its request', () => {
  const counts = new Array<number>(LATENCY_BUCKETS).fill(0);
  expect(quantileMs(counts, 0.5)).toBeNull();
  counts[3] = 99; // 0.5 to 1 ms
  counts[9] = 1; // 50 to 100 ms
  expect(quantileMs(counts, 0.5)).toBeWithin(0.5, 1);
  expect(quantileMs(counts, 1)).toBe(100);
});
