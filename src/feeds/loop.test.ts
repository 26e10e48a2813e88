import { expect, test } from 'bun:test';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder, newLedgerUrl } from '../../test/support/ledger.ts';
import { Ledger } from '../ledger/ledger.ts';
import { marketOf, sessionEnd, tradeDate } from '../market/session.ts';
import { FeedLoop } from './loop.ts';
import type { FromWorker } from './protocol.ts';

const NOON = Date.UTC(2026, 10, 11, 15);

/** Waits for a kind of message from a loop that runs. */
function inbox() {
  const waiting = new Map<string, (message: FromWorker) => void>();
  const got: FromWorker[] = [];
  return {
    got,
    post(message: FromWorker) {
      got.push(message);
      waiting.get(message.kind)?.(message);
    },
    next: (kind: FromWorker['kind']) => new Promise<FromWorker>((resolve) => waiting.set(kind, resolve)),
  };
}

test('without demo no price is made, and ticks of a session that ends become its bar', async () => {
  const url = await newLedgerUrl('sqlite');
  let now = NOON;
  const clock = { now: () => now };
  const ledger = await Ledger.open(url, clock);
  const gold = (await ledger.symbols.list()).find((symbol) => symbol.code === 'XAU')!;
  const { got, post, next } = inbox();
  const loop = new FeedLoop(url, false, clock, post);
  await loop.turn();
  expect(got).toEqual([{ kind: 'ready' }]);
  expect(await ledger.bars.count()).toBe(0);

  await ledger.ticks.append([{ symbolId: gold.id, id: '1', at: now, received: now, price: 4000 }], 'push');
  const market = marketOf(gold.market);
  const day = tradeDate(market, now);
  now = sessionEnd(market, day);
  await loop.turn();
  expect(got.at(-1)).toEqual({ kind: 'written' });
  expect(await ledger.bars.revisions(gold.id, 'real', day, day)).toMatchObject([{ close: 4000 }]);

  const stopped = next('stopped');
  loop.stop();
  await loop.run();
  await stopped;
  await ledger.close();
});

test('a ledger that cannot be opened is reported and tried again', async () => {
  const path = join(newFolder(), 'ledger.db');
  mkdirSync(path); // a folder where the file should be
  const { post, next } = inbox();
  const loop = new FeedLoop(path, false, { now: () => NOON }, post);
  const failed = next('error');
  const ready = next('ready');
  const ended = loop.run();
  expect(await failed).toMatchObject({ kind: 'error', message: expect.stringMatching(/./) });
  rmdirSync(path);
  await ready;
  loop.stop();
  await ended;
});

test('a ledger that was restored to an earlier state is taken as a new one', async () => {
  const url = await newLedgerUrl('sqlite');
  let now = NOON;
  const clock = { now: () => now };
  const ledger = await Ledger.open(url, clock);
  const gold = (await ledger.symbols.list()).find((symbol) => symbol.code === 'XAU')!;
  const market = marketOf(gold.market);
  const day = tradeDate(market, now);
  const before = await ledger.head();
  const tick = { symbolId: gold.id, id: '1', at: now, received: now, price: 4000 };
  await ledger.ticks.append([tick], 'push');
  await ledger.ticks.append([{ ...tick, id: '2' }], 'push');
  const loop = new FeedLoop(url, false, clock, () => {});
  await loop.turn();

  await ledger.engine.write(async (tx) => {
    await tx`DELETE FROM tick`;
    await tx`UPDATE counter SET value = ${before.prices} WHERE name = 'prices'`;
    await tx`UPDATE meta SET value = 'restored' WHERE name = 'epoch'`;
  });
  await ledger.ticks.append([{ ...tick, price: 4100 }], 'push');
  now = sessionEnd(market, day);
  await loop.turn();
  expect(await ledger.bars.revisions(gold.id, 'real', day, day)).toMatchObject([{ close: 4100 }]);

  loop.stop();
  await loop.run();
  await ledger.close();
});
