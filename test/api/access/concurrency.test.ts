import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const SYMBOLS = ['XAU', 'XAG', 'PL', 'PA', 'TIN', 'ZINC'];
const PATH = `/rates/historical?symbols=${SYMBOLS}&date=2024-05-14`;

/** Ten years with few bars: too long a change to be applied bar by bar. */
const longHistory = (price: number) => ({ '2014-05-14': price, '2024-05-13': price, '2024-05-14': price });

onEachEngine('requests while everything changes', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const symbol of SYMBOLS) await service.publish(symbol, longHistory(1));
  });
  const askMany = () => Promise.all(Array.from({ length: 8 }, () => api.ask(PATH)));

  test('an import that reloads a series never makes a request fail or lose a symbol', async () => {
    for (let price = 2; price < 12; price++) {
      const publishing = SYMBOLS.map((symbol) => api.service.publish(symbol, longHistory(price)));
      const replies = (await Promise.all([askMany(), askMany()])).flat();
      await Promise.all(publishing);
      for (const reply of replies) {
        expect(reply.status, reply.text).toBe(200);
        expect(Object.keys(reply.body.rates as object)).toEqual(SYMBOLS);
      }
    }
  });

  test('a new delay, which adds a view to every series, never makes a request fail', async () => {
    for (let delaySeconds = 1; delaySeconds <= 8; delaySeconds++) {
      const name = `delay${delaySeconds}`;
      await api.service.setPlan({ name, delaySeconds });
      const key = await api.service.key(name);
      const [own, replies] = await Promise.all([api.ask(PATH, { key }), askMany()]);
      for (const reply of [own, ...replies]) expect(reply.status, reply.text).toBe(200);
    }
  });

  test('a restored ledger (another epoch) is followed without a failed request', async () => {
    const { ledger, core } = api.service;
    const before = (await api.ask(PATH)).headers.get('etag');
    await ledger.engine.write((tx) => tx`UPDATE meta SET value = ${'restored'} WHERE name = ${'epoch'}`);
    const [, ...rounds] = await Promise.all([core.follow(), askMany(), askMany(), askMany()]);
    for (const reply of rounds.flat()) expect(reply.status, reply.text).toBe(200);
    expect((await api.ask('/health')).body.newestWriteAgeSeconds).toBe(0);
    expect((await api.ask(PATH)).headers.get('etag')).not.toBe(before);
  });
});
