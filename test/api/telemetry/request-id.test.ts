import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { onBunServe } from '../../support/http-server.ts';
import { onEachEngine } from '../../support/ledger.ts';

const LATEST = '/rates/latest?symbols=XAU';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

onEachEngine('X-Request-Id', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
  });
  const loggedWith = (requestId: string) =>
    api.service.logLines.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId);

  test('is in every response, and different each time', async () => {
    const asked = [
      ...[LATEST, LATEST, LATEST, LATEST].map((path) => api.ask(path)),
      api.ask(LATEST, { headers: { 'if-none-match': '*' } }),
      api.ask(LATEST, { headers: { 'if-none-match': '*' } }),
      api.ask(LATEST, { method: 'HEAD' }),
      api.ask(LATEST, { method: 'OPTIONS' }),
      api.ask(LATEST, { method: 'DELETE' }),
      api.ask(LATEST, { key: '' }),
      api.ask('/rates/latest?symbols=NOPE'),
      api.ask('/rates/history?symbols=XAU&startDate=2024-01-01&endDate=2024-05-15&format=csv'),
      ...['/usage', '/health', '/metrics', '/nowhere', '/', '/openapi.json', '/admin/accounts'].map((path) =>
        api.ask(path),
      ),
    ];
    const ids = (await Promise.all(asked)).map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(/^[0-9a-v]{9}-[0-9a-v]{8}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('is never repeated, over thousands of copies of one cached response', async () => {
    const ids = new Set<string | null>();
    for (let i = 0; i < 110; i++) {
      const wave = Array.from({ length: 20 }, () => api.ask(LATEST));
      for (const { headers } of await Promise.all(wave)) ids.add(headers.get('x-request-id'));
    }
    expect(ids.size).toBe(2_200);
    for (const id of ids) expect(id).toMatch(/^[0-9a-v]{9}-[0-9a-v]{8}$/);
  }, 180_000);

  test.skipIf(onBunServe)(
    'is in the bare response to input that is not HTTP, and in its log line',
    async () => {
      const response = await sendRaw(api.service.url, 'GET / HTTP/1.1\r\nbroken\r\n\r\n');
      const id = /^X-Request-Id: (\S+)\r$/m.exec(response)?.[1];
      expect(id).toBeString();
      expect(loggedWith(id!)).toMatchObject([{ event: 'request not read', status: 400 }]);
    },
  );

  test('is the client’s own if that is well-formed, in fresh and cached responses', async () => {
    for (let i = 0; i < 4; i++) {
      const id = `client-${i}`;
      const headers = { 'x-request-id': id, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
      const responses = [
        await api.ask(LATEST, { headers }),
        await api.ask(LATEST, { headers: { ...headers, 'if-none-match': '*' } }),
        await api.ask('/usage', { headers }),
        await api.ask('/nowhere', { headers }),
      ];
      expect(responses.map((one) => one.headers.get('x-request-id'))).toEqual([id, id, id, id]);
      expect(loggedWith(id).map(({ status, traceId }) => [status, traceId])).toEqual([
        [200, TRACE],
        [304, TRACE],
        [200, TRACE],
        [404, TRACE],
      ]);
    }
  });

  test('is a new one if the client’s could be misread', async () => {
    for (const id of ['a b', 'x'.repeat(200), `"${'a'}"`, api.key]) {
      const { headers } = await api.ask(LATEST, { headers: { 'x-request-id': id } });
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-v]{9}-[0-9a-v]{8}$/);
    }
  });

  test('is in the log line of a failure, with the trace id', async () => {
    await api.service.publish('XAG', { '2024-05-14': 28.5 });
    const { engine: sql } = api.service.ledger;
    await sql.write((tx) => tx.unsafe('ALTER TABLE bar RENAME TO hidden'));
    const headers = { 'x-request-id': 'failing', traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
    const { status } = await api.ask('/rates/historical?symbols=XAG&date=2024-05-14', { headers });
    await sql.write((tx) => tx.unsafe('ALTER TABLE hidden RENAME TO bar'));
    expect(status).toBe(500);
    expect(loggedWith('failing')).toMatchObject([
      { event: 'request failed', traceId: TRACE },
      { event: 'request', status: 500 },
    ]);
  });
});
