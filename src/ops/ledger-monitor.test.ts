import { expect, test } from 'bun:test';
import { Unavailable } from '../ledger/engine/errors.ts';
import { LedgerMonitor } from './ledger-monitor.ts';

const NOON = Date.UTC(2026, 10, 16, 12);

function monitored() {
  const state = {
    now: NOON,
    failure: undefined as Error | undefined,
    meterFailure: undefined as string | undefined,
    outages: 4,
    recovered: 0,
  };
  const recorded: number[] = [];
  const call = <T>(value: T) => (state.failure ? Promise.reject(state.failure) : Promise.resolve(value));
  const monitor = new LedgerMonitor({
    clock: { now: () => state.now },
    readOutages: () => call(state.outages),
    recordOutage: async (number) => {
      await call(undefined);
      recorded.push(number);
    },
    meterFailure: () => state.meterFailure,
    onRecovered: () => void state.recovered++,
  });
  const after = async (ms: number) => {
    state.now += ms;
    await monitor.check();
    return monitor.outage;
  };
  return { monitor, state, recorded, after };
}

test('one failed probe is not an outage; probes that fail for three seconds are', async () => {
  const { state, after } = monitored();
  await after(0);
  state.failure = new Error('Failed to connect');
  expect(await after(1_000)).toBeUndefined();
  expect(await after(1_000)).toBeUndefined();
  expect(await after(1_000)).toEqual({ since: NOON, reason: 'Failed to connect', number: 5 });
});

test('an outage keeps its start and number, and ends and is recorded with the first successful probe', async () => {
  const { state, recorded, after } = monitored();
  await after(0);
  state.failure = new Error('Failed to connect');
  for (let i = 0; i < 30; i++) await after(1_000);
  expect(await after(1_000)).toMatchObject({ since: NOON, number: 5 });
  state.failure = undefined;
  expect(await after(1_000)).toBeUndefined();
  expect({ recorded, recovered: state.recovered }).toEqual({ recorded: [5], recovered: 1 });
  state.failure = new Error('again');
  for (let i = 0; i < 4; i++) await after(1_000);
  expect(await after(1_000)).toMatchObject({ number: 6 });
});

test('a ledger that answers but does not accept counts is an outage too', async () => {
  const { state, after } = monitored();
  await after(0);
  state.meterFailure = 'sorry, too many clients already';
  await after(1_500);
  expect(await after(1_500)).toMatchObject({
    reason: 'counts cannot be written: sorry, too many clients already',
  });
  state.meterFailure = undefined;
  expect(await after(1_000)).toBeUndefined();
});

test('listeners hear of every failed probe of an outage in which the ledger does not respond', async () => {
  const { monitor, state, after } = monitored();
  let calls = 0;
  monitor.onUnreachable(() => void calls++);
  await after(0);
  state.failure = new Error('Failed to connect');
  await after(2_000);
  expect(calls).toBe(0);
  for (let i = 0; i < 3; i++) await after(1_000);
  expect(calls).toBe(3);
});

test('listeners are not called while the ledger still answers reads', async () => {
  const { monitor, state, after } = monitored();
  monitor.onUnreachable(() => expect.unreachable());
  await after(0);
  state.meterFailure = 'no synchronous standby';
  for (let i = 0; i < 4; i++) await after(1_000);
  state.failure = new Unavailable('PostgreSQL accepts only reads');
  for (let i = 0; i < 4; i++) await after(1_000);
  expect(monitor.outage).toBeDefined();
});
