import { expect, test } from 'bun:test';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { stubProvider } from '../../../test/support/feeds/stub-provider.ts';
import { respondWithBytes, StubServer } from '../../../test/support/feeds/stub-server.ts';
import { newFolder, newLedgerUrl } from '../../../test/support/ledger.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { DEFAULT_RETENTION } from '../../ledger/retention/rules.ts';
import { MS_PER_DAY } from '../../market/day.ts';
import { marketOf, sessionEnd, tradeDate } from '../../market/session.ts';
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

test('without demo mode no price is simulated, and the ticks of a session become its bar', async () => {
  const url = await newLedgerUrl('sqlite');
  let now = NOON;
  const clock = { now: () => now };
  const ledger = await Ledger.open(url, clock);
  const gold = (await ledger.symbols.list()).find((symbol) => symbol.code === 'XAU')!;
  const { got, post, next } = inbox();
  const loop = new FeedLoop({ ledgerUrl: url, clock, post });
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

test('old data is deleted by the retention rules of the operator', async () => {
  const url = await newLedgerUrl('sqlite');
  const ledger = await Ledger.open(url, { now: () => NOON });
  await ledger.accounts.create({ id: 'a', name: 'A', plan: 'pro', status: 'active', createdAt: 0 });
  const keys = { lately: NOON - 3 * MS_PER_DAY, before: NOON - 8 * MS_PER_DAY };
  for (const [id, revokedAt] of Object.entries(keys)) {
    const rest = {
      accountId: 'a',
      name: '',
      createdAt: 0,
      expiresAt: null,
      allowedIps: null,
      headerOnly: false,
    };
    await ledger.keys.add({ id, hash: id, revokedAt, ...rest });
  }
  const rules = { ...DEFAULT_RETENTION, keysDays: 7 };
  const loop = new FeedLoop({ ledgerUrl: url, clock: { now: () => NOON }, post() {}, retention: rules });
  await loop.turn();
  expect((await ledger.keys.of('a')).map(({ id }) => id)).toEqual(['lately']);
  loop.stop();
  await loop.run();
  await ledger.close();
});

test('old data is looked for once an hour, also while other work fails or is behind', async () => {
  const url = await newLedgerUrl('sqlite');
  let now = NOON;
  const clock = { now: () => now };
  const ledger = await Ledger.open(url, clock);
  const use = { accountId: 'a', keyId: 'k', day: 1, endpoint: 'latest', count: 1, lastAt: 0 };
  const untilDone = Number.POSITIVE_INFINITY;
  const loop = new FeedLoop({ ledgerUrl: url, clock, post() {}, maintenanceBudgetMs: untilDone });
  await ledger.engine.write((tx) => tx`ALTER TABLE feed RENAME TO gone`);
  const usesAfterTurn = async () => {
    await ledger.keyUses.add([use]);
    await expect(loop.turn()).rejects.toThrow('feed');
    return (await ledger.keyUses.of('a', 0)).length;
  };
  expect(await usesAfterTurn()).toBe(0);
  now += 60_000;
  expect(await usesAfterTurn()).toBe(1);
  now += 3_600_000;
  expect(await usesAfterTurn()).toBe(0);
  loop.stop();
  await loop.run();
  await ledger.close();
});

test('a ledger that cannot be opened is reported and retried', async () => {
  const path = join(newFolder(), 'ledger.db');
  mkdirSync(path); // a folder where the file should be
  const { post, next } = inbox();
  const loop = new FeedLoop({ ledgerUrl: path, clock: { now: () => NOON }, post });
  const failed = next('failed');
  const ready = next('ready');
  const ended = loop.run();
  expect(await failed).toMatchObject({ kind: 'failed', message: expect.stringMatching(/./) });
  rmdirSync(path);
  await ready;
  loop.stop();
  await ended;
});

test('a ledger that was restored to an earlier state is treated as a new one', async () => {
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
  const loop = new FeedLoop({ ledgerUrl: url, clock, post() {} });
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

test('an enabled feed runs by its schedule, and a failure is reported', async () => {
  const url = await newLedgerUrl('sqlite');
  let now = NOON;
  const clock = { now: () => now };
  const ledger = await Ledger.open(url, clock);
  const server = new StubServer();
  server.respond = () => new Response('date,GOLD\n2026-11-10,4000\n');
  const { got, post, next } = inbox();
  const providing = { providers: [stubProvider(server.url)], secrets: {} };
  const loop = new FeedLoop({ ledgerUrl: url, clock, post, setup: providing });
  await loop.turn();
  expect(server.requests).toEqual([]); // a new install calls nobody

  await ledger.feeds.enable('stub', now, now);
  now += 10_000;
  const written = next('written');
  await loop.turn();
  await written;
  expect(await ledger.feeds.history(9)).toMatchObject([{ feed: 'stub', status: 'ok', taken: 1 }]);
  now += 10_000;
  await loop.turn();
  expect(server.requests).toHaveLength(1); // the next slot is tomorrow

  server.respond = () => new Response('', { status: 404 });
  now += 86_400_000;
  const failed = next('error');
  await loop.turn();
  expect(await failed).toEqual({ kind: 'error', message: 'feed stub failed: the provider answered 404' });
  expect(got.filter((message) => message.kind === 'error')).toHaveLength(1);
  const none = { taken: 0, corrected: 0, unchanged: 0, held: 0, refused: 0 };
  expect(got).toContainEqual({ kind: 'ran', run: { feed: 'stub', status: 'failed', ...none } });

  loop.stop();
  await loop.run();
  await ledger.close();
});

test('turns continue while a provider does not respond, and a stop does not wait for it', async () => {
  const url = await newLedgerUrl('sqlite');
  let now = NOON;
  const clock = { now: () => now };
  const ledger = await Ledger.open(url, clock);
  await ledger.feeds.enable('stub', now, now);
  const asked = Promise.withResolvers<void>();
  const silent = await respondWithBytes('', () => asked.resolve());
  const { post, next } = inbox();
  const loop = new FeedLoop({
    ledgerUrl: url,
    clock,
    post,
    setup: { providers: [stubProvider(silent)], secrets: {} },
  });
  const ready = next('ready');
  await loop.turn();
  await ready;
  await asked.promise;
  now += 10_000;
  await loop.turn();
  expect(await ledger.feeds.history(9)).toMatchObject([{ status: 'running' }]);
  const stopped = next('stopped');
  loop.stop();
  await loop.run();
  await stopped;
  expect(await ledger.feeds.history(9)).toMatchObject([{ status: 'failed', message: 'the run was stopped' }]);
  expect(await ledger.feeds.due(now)).toEqual(['stub']); // for whoever comes next
  await ledger.close();
});
