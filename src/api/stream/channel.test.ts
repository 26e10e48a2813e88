import { afterEach, expect, test } from 'bun:test';
import { readyLedgerUrl } from '../../../test/support/database/ready-ledger.ts';
import { Board } from '../../board/board.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { Channel } from './channel.ts';
import type { StreamConnection } from './connection.ts';
import type { Topic } from './topic.ts';

/** Friday 2026-03-06, 15:00 in New York. */
const NOW = Date.UTC(2026, 2, 6, 20);

const ledgers: Ledger[] = [];
afterEach(async () => {
  for (const ledger of ledgers.splice(0)) await ledger.close();
});

async function openChannel() {
  const clock = { now: () => NOW };
  const ledger = await Ledger.open(await readyLedgerUrl('sqlite'), clock);
  ledgers.push(ledger);
  const board = await Board.open({ ledger, clock, historyBytesMax: 1e9, simulated: true }, [0]);
  const series = board.catalog.find('XAU')!;
  const tick = async (price: number) => {
    const one = { symbolId: series.symbol.id, at: NOW, received: NOW, price, id: `${price}` };
    await ledger.ticks.append([one], 'feed');
    await board.follow(await ledger.head());
  };
  await tick(2_000);
  await board.ready([series], 'recent', NOW);
  const channel = new Channel(board.view(0), board, 'test');
  const topics = () => channel.topics([{ code: 'XAU', series }]);
  return { board, channel, topics, tick };
}

/** A connection that records what it is offered. */
function subscribe(channel: Channel, topics: readonly Topic[]): string[] {
  const offered: string[] = [];
  channel.connections.add({
    topics: new Set(topics),
    offer: (changed: Iterable<Topic>) => offered.push(...[...changed].map(({ event }) => event)),
  } as unknown as StreamConnection);
  return offered;
}

test('a price that a new stream is the first to see is also sent to the open ones', async () => {
  const { channel, topics, tick } = await openChannel();
  const offered = subscribe(channel, topics());
  await tick(2_001);
  topics(); // another client connects before the channel publishes the change
  await channel.publish(NOW);
  expect(offered).toEqual([expect.stringContaining('"rate":2001')]);
});

test('a new delay, which unloads all prices while a change is published, sends nothing twice and loses nothing', async () => {
  const { board, channel, topics, tick } = await openChannel();
  const [topic] = topics();
  const offered = subscribe(channel, [topic!]);
  await tick(2_001);
  let changes = 0;
  board.onChange(() => changes++);
  const { prepare } = board;
  board.prepare = (...args) => {
    const loading = prepare.apply(board, args);
    board.prepare = prepare;
    board.view(60_000); // the first request of a plan with a new delay
    return loading;
  };
  await channel.publish(NOW);
  expect({ changes, sequence: topic!.sequence }).toEqual({ changes: 1, sequence: 1 });
  expect(await channel.publish(NOW)).toBe('loaded');
  expect(await channel.publish(NOW)).toBe('current');
  expect(offered).toEqual([expect.stringContaining('"rate":2001')]);
});

test('changes are sent at once, even while the prices of another symbol are loading', async () => {
  const { board, channel, topics, tick } = await openChannel();
  const offered = subscribe(channel, topics());
  board.prepare = () => new Promise(() => {});
  for (const price of [2_001, 2_002]) {
    await tick(price);
    void channel.publish(NOW);
    expect(offered.at(-1)).toContain(`"rate":${price}`);
  }
});
