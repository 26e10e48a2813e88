import { expect, test } from 'bun:test';
import { callTool, connectAgent } from '../../support/agents.ts';
import { apiOn } from '../../support/api.ts';
import { send } from '../../support/http/raw-http.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('access to POST /mcp', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    await service.publish('XAG', { '2024-05-13': 28.21, '2024-05-14': 28.62 });
  });

  test('a call is counted like the requests that it stands for', async () => {
    const client = await connectAgent(api.service.url, { 'x-api-key': api.key });
    const used = async () => (await api.ask('/usage')).body.used as number;
    const before = await used();
    await callTool(client, 'latest_prices', { symbols: ['XAU', 'XAG'] });
    expect(await used()).toBe(before + 1);
    await callTool(client, 'price_change', { symbols: ['XAU'], from: '2024-05-13', to: '2024-05-14' });
    expect(await used()).toBe(before + 2);
    await callTool(client, 'compare', { symbols: ['XAU', 'XAG'], from: '2024-05-13', to: '2024-05-14' });
    expect(await used()).toBe(before + 4);
    const { text } = await callTool(client, 'usage', {});
    expect(text).toMatch(
      new RegExp(`^Plan unlimited: ${before + 4} units used this month; there is no limit`),
    );
    await client.close();
  });

  test('an exhausted quota is an error that advises against repeating', async () => {
    await api.service.setPlan({ name: 'tiny', quota: 1 });
    const tiny = await connectAgent(api.service.url, {
      authorization: `Bearer ${await api.service.key('tiny')}`,
    });
    expect((await callTool(tiny, 'latest_prices', { symbols: ['XAU'] })).isError).toBe(false);
    const { text, isError } = await callTool(tiny, 'latest_prices', { symbols: ['XAU'] });
    expect(isError).toBe(true);
    expect(text).toContain('do not repeat');
    await tiny.close();
  });

  test('a comparison whose statistics are refused has the changes, which are charged already, and says why', async () => {
    await api.service.setPlan({ name: 'short', history: false });
    await api.service.setPlan({ name: 'last', quota: 1 });
    const days = { from: '2024-05-13', to: '2024-05-14' };
    await api.service.publish('XAU', { '2023-05-15': 2016.5 });
    await api.service.publish('XAG', { '2023-05-15': 24.1 });
    for (const [plan, range, why] of [
      ['short', { ...days, from: '2023-05-15' }, 'the limit is 30 days'],
      ['last', days, 'is used up'],
    ] as const) {
      const key = await api.service.key(plan);
      const client = await connectAgent(api.service.url, { 'x-api-key': key });
      const { text, isError } = await callTool(client, 'compare', { symbols: ['XAU', 'XAG'], ...range });
      expect(isError).toBe(false);
      expect(text).toContain('2358.2 on 2024-05-14');
      expect(text).toContain('No volatility and correlation: ');
      expect(text).toContain(why);
      expect((await api.ask('/usage', { key })).body.used).toBe(1);
      await client.close();
    }
  });

  test('a long series waits for the burst limit, instead of failing after the units of its first pages', async () => {
    await api.service.setPlan({ name: 'slow', burstPerSecond: 5 });
    const closes: Record<string, number> = {};
    for (let day = Date.UTC(1990, 0, 1); day < Date.UTC(2017, 0, 1); day += 86_400_000)
      closes[new Date(day).toISOString().slice(0, 10)] = 1_000;
    await api.service.publish('PL', closes);
    const key = await api.service.key('slow');
    const client = await connectAgent(api.service.url, { 'x-api-key': key });
    api.service.clock.time += 1_000;
    const ticking = setInterval(() => {
      api.service.clock.time += 500;
    }, 500);
    const { text, isError } = await callTool(client, 'price_series', {
      symbol: 'PL',
      from: '1990-01-01',
      to: '2016-12-31',
    });
    clearInterval(ticking);
    expect([isError, text]).toEqual([false, expect.stringContaining('24 of 9862 rows')]);
    api.service.clock.time += 1_000;
    expect((await api.ask('/usage', { key })).body.used).toBe(5);
    await client.close();
  });

  test('without a valid key nothing is answered', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const { status } = await api.ask('/mcp', { key: '', method: 'POST', body });
    expect(status).toBe(401);
  });

  test('a key that is bound to other addresses is refused', async () => {
    const { body: created } = await api.ask('/account/keys', {
      method: 'POST',
      body: '{"allowedIps":["192.0.2.1"]}',
    });
    const { apiKey: key } = created as { apiKey: string };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect((await api.ask('/mcp', { key, method: 'POST', body })).status).toBe(403);
  });

  test('a batch is refused: the burst limit counts requests, and each message is one', async () => {
    const list = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/list' });
    const headers = { accept: 'application/json, text/event-stream' };
    const body = ` ${JSON.stringify([list(1), list(2)])}`;
    const { status, text } = await api.ask('/mcp', { method: 'POST', headers, body });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual({
      jsonrpc: '2.0',
      error: { code: -32600, message: 'Invalid Request: send one message per request, not a batch' },
      id: null,
    });
  });

  test('the response does not say that its connection stays open when it is closed, as before a restart', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const head = [
      'POST /mcp HTTP/1.1',
      'Host: a',
      `x-api-key: ${api.key}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      'Connection: close',
      `Content-Length: ${body.length}`,
    ];
    const response = await send(Number(new URL(api.service.url).port), `${head.join('\r\n')}\r\n\r\n${body}`);
    expect(response).toStartWith('HTTP/1.1 200 ');
    expect(response).not.toMatch(/^connection: keep-alive/im);
  });

  test('GET is refused with the methods that are allowed', async () => {
    const { status, headers } = await api.ask('/mcp');
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('POST, OPTIONS');
  });
});

onEachEngine('POST /mcp of a service that has no API at the root', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_MOUNTS: '/v3,/api' } }, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
  });

  test('answers like any other', async () => {
    const client = await connectAgent(api.service.url, { 'x-api-key': api.key });
    expect((await callTool(client, 'latest_prices', { symbols: ['XAU'] })).text).toStartWith(
      'XAU: 2358.2 USD',
    );
    expect((await callTool(client, 'latest_prices', { symbols: ['XAU', 'NOPE'] })).isError).toBe(true);
    await client.close();
  });
});
