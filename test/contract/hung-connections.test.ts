import { afterAll, beforeAll, expect, test } from 'bun:test';
import { outageReason } from '../../src/ledger/engine/errors.ts';
import { onlyRow } from '../../src/ledger/engine/rows.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { TcpProxy } from '../support/http/tcp-proxy.ts';
import { fixedClock } from '../support/ledgers.ts';
import { newDatabase } from '../support/postgres.ts';

let proxy: TcpProxy;
let direct: Ledger;
let ledger: Ledger;
beforeAll(async () => {
  const url = await newDatabase();
  proxy = await TcpProxy.open(Number(new URL(url).port));
  direct = await Ledger.open(url, fixedClock);
  ledger = await Ledger.open(proxy.through(url), fixedClock, 'serving');
}, 180_000);
afterAll(async () => {
  await ledger.close();
  await direct.close();
  await proxy.close();
});

const outcome = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error) => (outageReason(error) ? 'outage' : String(error)),
  );

test('calls on connections that hang fail as an outage and leave room for the next', async () => {
  await Promise.all(Array.from({ length: 20 }, () => ledger.head())); // fills the pool
  proxy.swallow = true;
  const calls = Array.from({ length: 30 }, () => outcome(ledger.head())); // three times the pool
  calls.push(outcome(ledger.setMeta('hung', 'yes')));
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 31 }, () => 'outage'));
  proxy.swallow = false;
  expect(await outcome(ledger.head())).toBe('answered');
  expect(await outcome(ledger.setMeta('hung', 'no'))).toBe('answered');
  expect(await direct.meta('hung')).toBe('no');
}, 180_000);

test('a client that hangs in a transaction holds its locks for seconds, not forever', async () => {
  const hung = outcome(
    ledger.engine.write(async (tx) => {
      await tx`UPDATE counter SET value = value WHERE name = 'prices'`;
      proxy.swallow = true;
      await tx`SELECT 1`;
    }),
  );
  while (!proxy.swallow) await Bun.sleep(5);
  await direct.engine.write((tx) => tx`UPDATE counter SET value = value WHERE name = 'prices'`);
  expect(await hung).toBe('outage');
  proxy.swallow = false;
  expect(await outcome(ledger.head())).toBe('answered');
}, 180_000);

test('a slow network slows calls down, and none fails', async () => {
  proxy.delayMs = 100;
  const calls = Array.from({ length: 5 }, (_, i) => outcome(ledger.setMeta(`slow ${i}`, 'yes')));
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 5 }, () => 'answered'));
  proxy.delayMs = 0;
}, 180_000);

test('a server that has become a standby is left for the one that took its place', async () => {
  const { read } = direct.engine;
  const { name } = onlyRow(await read`SELECT current_database() AS name`);
  const become = (mode: 'on' | 'off') =>
    read.unsafe(`ALTER DATABASE "${name}" SET default_transaction_read_only = ${mode}`);
  await become('on');
  proxy.cut(); // the next connections can only read
  await outcome(ledger.head());
  const writeMany = () =>
    Promise.all(Array.from({ length: 9 }, (_, i) => outcome(ledger.setMeta(`standby ${i}`, 'yes'))));
  expect(new Set(await writeMany())).toEqual(new Set(['outage']));
  await become('off');
  expect(new Set(await writeMany())).toEqual(new Set(['answered']));
}, 180_000);
