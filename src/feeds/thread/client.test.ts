import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { newLedgerUrl } from '../../../test/support/ledger.ts';
import { eventually } from '../../../test/support/program.ts';
import { Unavailable } from '../../ledger/engine/errors.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { marketOf, tradeDate } from '../../market/session.ts';
import { lastClosedDay } from '../simulator/schedule.ts';
import { startFeeds } from './client.ts';

/** A Wednesday on which the markets of New York, Chicago and London are open. */
const NOON = Date.UTC(2026, 10, 11, 15);

/** How many threads of this process have a lower priority than its first one, on Linux. */
function countLowered(): number {
  const tasks = '/proc/self/task';
  if (process.platform !== 'linux') return 0;
  const niceOf = (id: string) => {
    const stat = readFileSync(`${tasks}/${id}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  };
  return readdirSync(tasks).filter((id) => niceOf(id) > niceOf(String(process.pid))).length;
}

function start(ledgerUrl: string) {
  const ready = Promise.withResolvers<void>();
  const ticked = Promise.withResolvers<void>();
  const events = {
    written: 0,
    progress: [] as number[],
    lowered: [] as number[],
    errors: [] as string[],
    isReady: false,
  };
  const feeds = startFeeds({
    ledgerUrl,
    demo: true,
    secrets: {},
    clockSkewMs: NOON - Date.now(),
    onWritten() {
      events.written++;
      if (events.isReady) ticked.resolve();
    },
    onProgress(done, total) {
      events.progress.push(done / total);
      events.lowered.push(countLowered());
    },
    onReady() {
      events.isReady = true;
      events.lowered.push(countLowered());
      ready.resolve();
    },
    onTurn() {},
    onFailure: (message) => events.errors.push(message),
    onError: (message) => events.errors.push(message),
  });
  return { feeds, events, ready: ready.promise, ticked: ticked.promise };
}

/** A thread that dies when it is told to. */
function startDying() {
  const events = { ready: 0, errors: [] as string[] };
  const feeds = startFeeds({
    ledgerUrl: '',
    demo: false,
    secrets: {},
    script: new URL('../../../test/support/children/dying-worker.ts', import.meta.url),
    onWritten() {},
    onProgress() {},
    onReady: () => void events.ready++,
    onTurn() {},
    onFailure: (message) => events.errors.push(message),
    onError: (message) => events.errors.push(message),
  });
  return { feeds, events };
}

/** A thread that starts and then does nothing. */
function startDeaf() {
  const errors: string[] = [];
  const ready = Promise.withResolvers<void>();
  const feeds = startFeeds({
    ledgerUrl: '',
    demo: false,
    secrets: {},
    script: new URL('../../../test/support/children/deaf-worker.ts', import.meta.url),
    onWritten() {},
    onProgress() {},
    onReady: () => ready.resolve(),
    onTurn() {},
    onFailure() {},
    onError: (message) => errors.push(message),
  });
  return { feeds, errors, ready: ready.promise };
}

test('a message of an unknown kind does not report the service ready', async () => {
  const heard: string[] = [];
  const turned = Promise.withResolvers<void>();
  const feeds = startFeeds({
    ledgerUrl: '',
    demo: false,
    secrets: {},
    script: new URL('../../../test/support/children/unknown-kind-worker.ts', import.meta.url),
    onWritten() {},
    onProgress() {},
    onReady: () => void heard.push('ready'),
    onTurn() {
      heard.push('turned');
      turned.resolve();
    },
    onFailure: (message) => void heard.push(message),
    onError: (message) => void heard.push(message),
  });
  await turned.promise;
  await feeds.stop();
  expect(heard).toEqual(['turned']);
});

test('the worker fills a new ledger, ticks, stops, and restarts without repeating anything', async () => {
  const url = await newLedgerUrl('sqlite');
  const ledger = await Ledger.open(url, { now: () => NOON });
  const gold = (await ledger.symbols.list()).find((symbol) => symbol.code === 'XAU')!;
  const market = marketOf(gold.market);

  const first = start(url);
  await first.ready;
  expect(first.events.progress.at(-1)).toBe(1);
  if (process.platform === 'linux') {
    // The first fill has full priority, because no request is served yet.
    expect([first.events.lowered[0], first.events.lowered.at(-1)]).toEqual([0, 1]);
  }
  expect((await ledger.bars.recent.span(gold.id, 'simulated'))!.lastDay).toBe(lastClosedDay(market, NOON));
  const today = tradeDate(market, NOON);
  expect((await ledger.ticks.ofDay(gold.id, 'simulated', today)).length).toBeGreaterThan(50);
  const { prices } = await ledger.head();
  await first.ticked; // some symbol is due within a few seconds
  expect((await ledger.head()).prices).toBeGreaterThan(prices);
  await first.feeds.stop();

  const bars = await ledger.bars.count();
  const second = start(url);
  await second.ready;
  await second.feeds.stop();
  expect(await ledger.bars.count()).toBe(bars);
  expect(second.events.progress).toEqual([]);
  expect([...first.events.errors, ...second.events.errors]).toEqual([]);
  await ledger.close();
}, 180_000);

test('a worker that is stopped during its initial fill stops at once', async () => {
  const url = await newLedgerUrl('sqlite');
  const { feeds, events } = start(url);
  await feeds.stop();
  expect(events.isReady).toBe(false);
  expect(events.errors).toEqual([]);
});

test('a thread that dies is restarted; pending pushes are refused and may be sent again', async () => {
  const { feeds, events } = startDying();
  const push = (source: string) => feeds.push({ kind: 'ticks', source, ticks: [] });
  for (let death = 1; death <= 2; death++) {
    expect(await push('good')).toEqual([]);
    const [one, other] = await Promise.allSettled([push('deadly'), push('deadly')]);
    for (const outcome of [one, other]) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
    }
    expect(push('good')).rejects.toBeInstanceOf(Unavailable); // until it is there again
    const isBack = () =>
      push('good').then(
        () => true,
        () => false,
      );
    await eventually(isBack);
  }
  expect(events.ready).toBe(1);
  expect(events.errors.filter((message) => message.includes('restarts in'))).toEqual([
    'the feed thread died and restarts in 500 ms',
    'the feed thread died and restarts in 1000 ms',
  ]);
  expect(events.errors.join()).toContain('die');
  await feeds.stop();
}, 180_000);

test('pending pushes are refused while the ledger does not respond, although their thread waits for it', async () => {
  const { feeds } = startDeaf();
  const push = () => feeds.push({ kind: 'ticks', source: 'test', ticks: [] });
  const pushed = Promise.allSettled([push(), push()]);
  feeds.failPushes();
  for (const outcome of await pushed) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
  }
  await feeds.stop(0);
});

test('a stop while the thread is dead prevents the restart', async () => {
  const { feeds } = startDying();
  await feeds.push({ kind: 'ticks', source: 'deadly', ticks: [] }).catch(() => {});
  await feeds.stop();
  expect(feeds.push({ kind: 'ticks', source: 'good', ticks: [] })).rejects.toBeInstanceOf(Unavailable);
}, 180_000);

test('a stop terminates a thread that does not respond, and reports it', async () => {
  const { feeds, errors, ready } = startDeaf();
  await ready;
  const push = feeds.push({ kind: 'ticks', source: 'test', ticks: [] }).catch((error) => error);
  await feeds.stop(20);
  expect(errors).toEqual(['the feed thread did not stop within 20 ms and was terminated']);
  expect(await push).toBeInstanceOf(Unavailable);
});
