import { expect, test } from 'bun:test';
import { refuse } from '../errors/errors.ts';
import { StreamConnection } from './connection.ts';
import type { Topic } from './topic.ts';

/** A connection that nobody reads from unless the test does. */
function connectionTo(topics: Topic[], units = Number.POSITIVE_INFINITY) {
  const clock = { time: 0, now: () => clock.time };
  const state = { clock, spent: 0, closed: 0 };
  const connection = new StreamConnection({
    eventId: ({ sequence }) => String(sequence),
    topics,
    after: 0,
    presented: { key: 'a key', inUrl: false, address: () => '127.0.0.1' },
    monotonic: clock,
    pay: () =>
      ++state.spent <= units
        ? { ok: true, remaining: 1 }
        : { ok: false, reason: 'exhausted', retryAfterSeconds: 1 },
    warnings: [],
    quotaRefusal: () =>
      refuse('quota_exhausted', { quota: 1, plan: 'free', units: 1, resetAt: '2024-06-01T00:00:00.000Z' }),
    onClose: () => state.closed++,
  });
  return { connection, state };
}

function topicAt(sequence: number, name = 'A'): Topic {
  return { sequence, event: `event: rate\ndata: {"symbol":"${name}"}\n\n` } as Topic;
}

async function readAll(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const next = await Promise.race([reader.read(), Bun.sleep(50).then(() => undefined)]);
    if (!next || next.done) return text;
    text += decoder.decode(next.value, { stream: true });
  }
}

test('a client that stops reading costs at most its queue, and then receives the newest price of each symbol', async () => {
  const topics = [topicAt(1, 'A'), topicAt(2, 'B')];
  const { connection } = connectionTo(topics);
  for (let sequence = 3; sequence < 20_000; sequence++) {
    topics[sequence % 2]!.sequence = sequence;
    connection.offer([topics[sequence % 2]!]);
  }
  const text = await readAll(connection.body);
  expect(text.length).toBeLessThan(70_000);
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids.slice(-2)).toEqual([19_998, 19_999]);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  expect(new Set(ids).size).toBe(ids.length);
});

test('a price that is withdrawn while it waits for a slow client is not sent', async () => {
  const topics = [topicAt(1, 'A'), topicAt(2, 'B')];
  const { connection } = connectionTo(topics);
  for (let sequence = 3; sequence < 5_000; sequence++) {
    topics[0]!.sequence = sequence;
    connection.offer([topics[0]!]);
  }
  topics[1]!.sequence = 5_000;
  connection.offer([topics[1]!]);
  topics[1]!.sequence = 0;
  const ids = [...(await readAll(connection.body)).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids.at(-1)).toBe(4_999);
  expect(ids).not.toContain(0);
});

test('a client that reads nothing for 20 s is disconnected', () => {
  const topic = topicAt(1);
  const { connection, state } = connectionTo([topic]);
  for (topic.sequence = 2; topic.sequence < 5_000; topic.sequence++) connection.offer([topic]);
  state.clock.time = 19_000;
  connection.heartbeat();
  expect(state.closed).toBe(0);
  state.clock.time = 20_000;
  connection.heartbeat();
  expect(state.closed).toBe(1);
});

test('the 101st event costs a unit, and is not sent when the quota is exhausted', async () => {
  const topic = topicAt(1);
  const { connection, state } = connectionTo([topic], 0);
  for (topic.sequence = 2; topic.sequence <= 100; topic.sequence++) connection.offer([topic]);
  expect(state.spent).toBe(0);
  connection.offer([topic]);
  expect({ spent: state.spent, closed: state.closed }).toEqual({ spent: 1, closed: 1 });
  const text = await readAll(connection.body);
  expect(text.match(/^event: rate$/gm)).toHaveLength(100);
  expect(text).toEndWith(
    'event: end\ndata: {"code":"quota_exhausted","message":"The monthly quota of 1 request of the plan \\"free\\" is used up. The quota resets at 2024-06-01T00:00:00.000Z.","resetAt":1717200000}\n\n',
  );
});
