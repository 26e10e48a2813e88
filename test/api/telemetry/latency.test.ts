import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { apiOn } from '../../support/api.ts';
import { onBunServe } from '../../support/http-server.ts';
import { onEachEngine } from '../../support/ledger.ts';

const STALL_MS = 400;
const PATH = '/rates/latest?symbols=XAU';

onEachEngine('openpit_request_seconds', (engine) => {
  const api = apiOn(engine, { logLevel: 'warn' }, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
  });
  const read = async () => {
    const { text } = await api.ask('/metrics', { key: '' });
    const of = (name: string, labels: string) =>
      Number(new RegExp(`^openpit_${name}\\{${labels}\\} (\\S+)`, 'm').exec(text)?.[1] ?? 0);
    const latest = 'endpoint="latest",status="200"';
    return {
      count: of('request_seconds_count', latest),
      sum: of('request_seconds_sum', latest),
      fast: of('request_seconds_bucket', `${latest},le="0.25"`),
      text,
    };
  };

  /** Sends a request, then blocks the event loop while its bytes wait in the kernel. */
  async function askDuringStall(): Promise<void> {
    const socket = connect(Number(new URL(api.service.url).port), '127.0.0.1');
    socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data'); // the server has accepted the connection
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: a\r\nx-api-key: ${api.key}\r\n\r\n`);
    Bun.sleepSync(STALL_MS);
    await once(socket, 'data');
    socket.destroy();
  }

  test('counts a cached response with its actual time', async () => {
    for (let i = 0; i < 3; i++) await api.ask(PATH);
    const before = await read();
    await api.ask(PATH);
    const after = await read();
    expect(after.count - before.count).toBe(1);
    expect(after.sum).toBeGreaterThan(before.sum);
  });

  test.skipIf(onBunServe)('includes the time a request waited while the event loop was blocked', async () => {
    for (let i = 0; i < 3; i++) await api.ask(PATH);
    const before = await read();
    await askDuringStall(); // cached
    api.service.clock.time += 5_000;
    await askDuringStall(); // computed again
    const after = await read();
    expect(after.count - before.count).toBe(2);
    expect(after.fast - before.fast).toBe(0);
    expect(after.sum - before.sum).toBeGreaterThanOrEqual((2 * STALL_MS) / 1000);
  });

  test('stalls have their own histogram and maximum', async () => {
    await read();
    await askDuringStall();
    const { text } = await read();
    const longest = Number(/^openpit_event_loop_lag_max_seconds (\S+)/m.exec(text)![1]);
    expect(longest).toBeGreaterThan((STALL_MS - 20) / 1000);
    expect(text).toMatch(/^openpit_event_loop_lag_seconds_bucket\{le="60"\} [1-9]/m);
  });
});
