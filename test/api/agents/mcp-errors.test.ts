import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@modelcontextprotocol/client';
import { ERROR_STATUSES, refuse } from '../../../src/api/errors/errors.ts';
import { RequestRefused } from '../../../src/client/ask.ts';
import { errorText } from '../../../src/mcp/hints.ts';
import { callTool, connectAgent } from '../../support/agents.ts';
import { apiOn } from '../../support/api.ts';

/** A route, a command, or something else that only makes sense in a terminal or in an HTTP client. */
const NOT_FOR_AGENTS =
  /\bGET\b|(?<!:\/)\/(?:rates|symbols|usage|v\d|latest)\b|"?openpit [a-z]|\bcurl\b|%2B|symbols=|x-api-key|Retry-After/;

/** Errors of requests that no tool makes. */
const OF_NO_TOOL = new Set([
  'missing_parameter',
  'key_not_allowed',
  'invalid_admin_token',
  'invalid_visit',
  'invalid_body',
  'method_not_allowed',
]);

describe('an error of a tool', () => {
  const messages: [code: string, message: string][] = [
    ...ERROR_STATUSES.filter(({ code }) => !OF_NO_TOOL.has(code)).map(
      ({ code, example }): [string, string] => [code, example],
    ),
    ...[
      refuse('unknown_symbol', {
        unknown: [
          { code: 'XAU XAG', nearest: [], list: 'XAU,XAG' },
          { code: 'XAU/XAG', nearest: [], mayBeFormula: true },
        ],
      }),
      refuse('unknown_currency', {
        ...{ received: 'XYZ', code: 'XAU', own: 'USD', known: ['USD'], hasRates: false },
      }),
      refuse('unknown_currency', {
        ...{ received: 'EUR', code: 'GOLDSILVER', own: 'none', known: [], hasRates: true },
      }),
      refuse('no_data', { date: '2024-05-14', rate: 'EUR/USD', days: 14, symbols: ['XAU'] }),
      refuse('too_many_symbols', { received: 21, max: 20, path: '/rates/statistics' }),
      refuse('invalid_formula', {
        received: '{GOLDSILVER}*2',
        problem: 'GOLDSILVER is a formula',
        advice: 'GET /symbols lists what GOLDSILVER is made of.',
      }),
      refuse('invalid_formula', {
        received: '{XAU}/0',
        problem: 'it divides by zero',
        advice: 'Other days may have a value: see /rates/history.',
      }),
      refuse('invalid_formula', { received: '{XAU}+', problem: 'it ends too early' }),
    ].map(({ code, message }): [string, string] => [code, message]),
  ];

  test.each(messages)('%s names tools, not routes or commands: %s', (code, message) => {
    const text = errorText(new RequestRefused(message, 400, code));
    expect(text).not.toMatch(NOT_FOR_AGENTS);
    expect(text).not.toMatch(/ {2}|\.\.| \./);
  });
});

describe('errors of POST /mcp', () => {
  const api = apiOn('sqlite', {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    await service.publish('XAG', { '2024-05-14': 0 });
    await service.setPlan({ name: 'short', history: false });
  });
  let client: Client;
  beforeAll(async () => {
    client = await connectAgent(api.service.url, { 'x-api-key': api.key });
  });
  afterAll(() => client.close());

  const range = { from: '2024-05-13', to: '2024-05-14' };
  test.each([
    ['latest_prices', { symbols: ['GOLDD'] }, 'GOLD?). Call find_symbols'],
    ['latest_prices', { symbols: [','] }, 'find_symbols finds them.'],
    ['latest_prices', { symbols: ['XAU/XAG'] }, 'for example {XAU}/{XAG}. Call'],
    ['formula', { expression: '{GOLDSILVER}*2' }, 'find_symbols states what GOLDSILVER is made of.'],
    ['formula', { expression: '{XAU}/{XAG}' }, 'Other days may have a value: see price_series.'],
    ['formula', { expression: '{XAU}+' }, '{RB-FUT}*42-{WTIOIL-FUT}. Put'],
    ['latest_prices', { symbols: ['XAU'], currency: 'EUR' }, 'The operator can enable it. Without it'],
    ['price_series', { symbol: 'GOLDD', ...range }, 'Call find_symbols'],
  ])('%s %j names tools, not routes or commands', async (tool, args, expected) => {
    const { text, isError } = await callTool(client, tool, args);
    expect(isError).toBe(true);
    expect(text).toContain(expected);
    expect(text).not.toMatch(NOT_FOR_AGENTS);
  });

  test('a plan without long history is referred to tools', async () => {
    const short = await connectAgent(api.service.url, { 'x-api-key': await api.service.key('short') });
    const { text } = await callTool(short, 'price_series', { symbol: 'XAU', ...range });
    await short.close();
    expect(text).toBe(
      'The plan "short" has no long history. Ask the operator of this service. Call price_change or price_on_date, which the plan includes.',
    );
  });

  test('a resource that cannot be read names tools, too', async () => {
    const uri = 'openpit://series/GOLDD/2024-05-13/2024-05-14/day/-/-';
    const message = await client.readResource({ uri }).then(
      () => 'read',
      (error: Error) => error.message,
    );
    expect(message).toContain('find_symbols');
    expect(message).not.toMatch(NOT_FOR_AGENTS);
  });

  test('a series of several symbols is refused, as a tool and as a resource', async () => {
    const expected = 'must be one symbol or formula, not a list';
    const { text, isError } = await callTool(client, 'price_series', { symbol: 'XAU,XAG', ...range });
    expect(isError).toBe(true);
    expect(text).toContain(expected);
    const uri = 'openpit://series/XAU%2CXAG/2024-05-13/2024-05-14/day/-/-';
    await expect(client.readResource({ uri })).rejects.toThrow(expected);
  });

  test('find_symbols states what a formula is made of', async () => {
    const { text } = await callTool(client, 'find_symbols', { query: 'GOLDSILVER' });
    expect(text.split('\n')[0]).toEndWith(', computed as {XAU}/{XAG}');
  });
});
