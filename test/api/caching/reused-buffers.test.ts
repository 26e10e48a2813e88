import { describe, expect, test } from 'bun:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiOn } from '../../support/api.ts';
import { get, open, serveHere } from '../../support/http/raw-http.ts';

const CODES = ['XAU', 'XAG', 'PL', 'PA'];
const CLIENTS = 12;
const ROUNDS = 40;

/** Responses of the same length, which therefore reuse the same buffers. */
const QUESTIONS = CODES.flatMap((code, i) => [
  `/rates/historical?symbols=${code}&date=2024-05-1${i}`,
  `/rates/time-series?symbols=${code},${CODES[(i + 1) % 4]}&startDate=2024-04-15&endDate=2024-05-1${i}`,
  `/rates/fluctuation?symbols=${code}&startDate=2024-04-15&endDate=2024-05-1${i}`,
  `/rates/time-series?symbols=${code}&startDate=2024-04-15&endDate=2024-05-1${i}&format=csv`,
]);

describe('responses in reused buffers', () => {
  const api = apiOn('sqlite', { logLevel: 'warn' }, async ({ service }) => {
    for (const [i, code] of CODES.entries()) {
      const days = Array.from({ length: 30 }, (_, day) => [
        new Date(Date.UTC(2024, 3, 15 + day)).toISOString().slice(0, 10),
        1_000 * (i + 1) + day,
      ]);
      await service.publish(code, Object.fromEntries(days));
    }
    await service.setPlan({ name: 'wide', quota: 1_000_000_000, burstPerSecond: 1_000_000 });
  });

  test('are the requested ones, regardless of concurrent requests and slow clients', async () => {
    const key = await api.service.key('wide');
    const expected = new Map<string, string>();
    for (const question of QUESTIONS) expected.set(question, (await api.ask(question, { key })).text);
    expect(new Set(expected.values()).size).toBe(QUESTIONS.length);
    const { core } = api.service;
    const server = serveHere({
      handle: (request, peer) => core.api.handle(request, peer),
      refuse: (fault) => core.api.refuse(fault),
    });

    /** Pipelines several requests at a time, cached and uncached, and reads the responses at its own pace. */
    async function client(own: number): Promise<void> {
      const { socket, all } = open(server.port);
      const asked: string[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        if (own % 3 === 0 && round % 10 === 5) socket.pause();
        if (round % 10 === 9) socket.resume();
        let bytes = '';
        for (let i = 0; i <= (own + round) % 7; i++) {
          const question = QUESTIONS[(own * 5 + round * 3 + i) % QUESTIONS.length]!;
          asked.push(question);
          const isAnew = (own + round + i) % 3 > 0;
          const url = isAnew ? `${question}&_=${own}-${round}-${i}` : question;
          bytes += get(url, `x-api-key: ${key}\r\n`);
        }
        socket.write(bytes);
        if (round % 4 === 3) await sleep(1);
      }
      socket.resume();
      socket.end();
      expect(bodiesOf(await all)).toEqual(asked.map((question) => expected.get(question)!));
    }
    await Promise.all(Array.from({ length: CLIENTS }, (_, own) => client(own)));
    await server.stop(0);
  });
});

function bodiesOf(text: string): string[] {
  const bodies: string[] = [];
  for (let at = 0; at < text.length; ) {
    const from = text.indexOf('\r\n\r\n', at) + 4;
    const length = Number(/Content-Length: (\d+)/.exec(text.slice(at, from))![1]);
    bodies.push(text.slice(from, from + length));
    at = from + length;
  }
  return bodies;
}
