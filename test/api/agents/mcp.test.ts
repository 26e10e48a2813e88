import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@modelcontextprotocol/client';
import { callTool, connectAgent } from '../../support/agents.ts';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

onEachEngine('POST /mcp', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', {
      '2023-05-15': 2016.5,
      '2024-05-10': [2345, 2378.4, 2343.1, 2360.5],
      '2024-05-13': 2336.1,
      '2024-05-14': [2336.1, 2359.9, 2335, 2358.2],
    });
    await service.publish('XAG', { '2023-05-15': 24.05, '2024-05-13': 28.21, '2024-05-14': 28.62 });
    await service.publish('CORN', { '2024-05-14': 467.25 });
    await service.publish('WTIOIL-FUT', { '2024-05-14': 78.02 });
    await service.publish('RB-FUT', { '2024-05-14': 2.5 });
    await service.publish('EUR/USD', { '2024-05-13': 1.25, '2024-05-14': 1.25 });
    await service.tick('XAG', 28.75, NOON - MINUTE);
  });
  let client: Client;
  beforeAll(async () => {
    client = await connectAgent(api.service.url, { 'x-api-key': api.key });
  });
  afterAll(() => client.close());

  test('lists tools with descriptions and schemas, and says how to begin', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'find_symbols',
      'latest_prices',
      'price_on_date',
      'price_series',
      'price_change',
      'price_statistics',
      'compare',
      'formula',
      'usage',
    ]);
    for (const { description, inputSchema, annotations } of tools) {
      expect(description!.length).toBeGreaterThan(40);
      expect(inputSchema.type).toBe('object');
      expect(annotations?.readOnlyHint).toBe(true);
    }
    expect(client.getInstructions()).toContain('find_symbols');
  });

  describe('ten questions', () => {
    const QUESTIONS: readonly [
      question: string,
      tool: string,
      args: Record<string, unknown>,
      answer: RegExp,
    ][] = [
      [
        'Which code is gold?',
        'find_symbols',
        { query: 'gold' },
        /^XAU: Gold.* USD per Troy Ounce.* prices from 2023-05-15 to 2024-05-14/,
      ],
      [
        'What is silver worth now?',
        'latest_prices',
        { symbols: ['XAG'] },
        /^XAG: 28\.75 USD per troy ounce \(T\.oz\), at 2024-05-15 15:59 UTC, source: test$/,
      ],
      [
        'What does corn cost?',
        'latest_prices',
        { symbols: ['CORN'] },
        /^CORN: 467\.25 US cents \(USX\) per bushel \(Bu\), close of 2024-05-14, source: test$/,
      ],
      [
        'What was gold on Sunday, 12 May 2024?',
        'price_on_date',
        { symbols: ['XAU'], date: '2024-05-12' },
        /^XAU: 2360\.5 USD per troy ounce.*, close of 2024-05-10 \(no price of 2024-05-12\); open 2345, high 2378\.4, low 2343\.1; source: test$/,
      ],
      [
        'What was gold in euros on Monday?',
        'price_on_date',
        { symbols: ['XAU'], date: '2024-05-13', currency: 'eur' },
        /^XAU: 1868\.88 EUR per troy ounce/,
      ],
      [
        'How did gold move in a year?',
        'price_change',
        { symbols: ['XAU'], from: '2023-05-15', to: '2024-05-14' },
        /^XAU: \+341\.7 USD per troy ounce \(T\.oz\) \(\+16\.95 %\), from 2016\.5 on 2023-05-15 to 2358\.2 on 2024-05-14/,
      ],
      [
        'What were gold closes last week?',
        'price_series',
        { symbol: 'XAU', from: '2024-05-10', to: '2024-05-14' },
        /\n2024-05-10,2345,2378\.4,2343\.1,2360\.5,2360\.5\n2024-05-13,.*\n2024-05-14,2336\.1,2359\.9,2335,2358\.2,2358\.2$/,
      ],
      [
        'When was gold highest this May?',
        'price_statistics',
        { symbols: ['XAU'], from: '2024-05-01', to: '2024-05-14' },
        /highest 2360\.5 on 2024-05-10/,
      ],
      [
        'Which did better in a year, gold or silver?',
        'compare',
        { symbols: ['XAU', 'XAG'], from: '2023-05-15', to: '2024-05-14' },
        /^symbol,.*\nXAG,\+19 %.*\nXAU,\+16\.95 %/,
      ],
      [
        'What is the gasoline crack spread?',
        'formula',
        { expression: '{RB-FUT}*42-{WTIOIL-FUT}', date: '2024-05-14' },
        /: 26\.98 .*from the closes of 2024-05-14, source: test$/,
      ],
    ];
    for (const [question, tool, args, answer] of QUESTIONS) {
      test(question, async () => {
        const { text, isError } = await callTool(client, tool, args);
        expect(text).toMatch(answer);
        expect(isError).toBe(false);
      });
    }
  });

  test('the price of a day that may still be trading is never called a close', async () => {
    const today = '2024-05-15';
    const price = await callTool(client, 'price_on_date', { symbols: ['XAG', 'XAU'], date: today });
    expect(price.text).toMatch(
      /^XAG: 28\.75 .*, PROVISIONAL price of 2024-05-15 so far: that day may still be trading; open 28\.75/,
    );
    expect(price.text).toContain('close of 2024-05-14 (no price of 2024-05-15 yet)');
    const range = { from: '2024-05-13', to: today };
    const change = await callTool(client, 'price_change', { symbols: ['XAG'], ...range });
    expect(change.text).toContain('to 28.75 on 2024-05-15 (PROVISIONAL: that day may still be trading)');
    const series = await callTool(client, 'price_series', { symbol: 'XAG', ...range });
    expect(series.text).toContain(
      'The last row is PROVISIONAL: it includes a day that may still be trading.',
    );
    const statistics = await callTool(client, 'price_statistics', { symbols: ['XAG'], ...range });
    expect(statistics.text).toContain(
      'last 28.75 on 2024-05-15 (PROVISIONAL: that day may still be trading)',
    );
    const compared = await callTool(client, 'compare', { symbols: ['XAG', 'XAU'], ...range });
    expect(compared.text).toContain('28.75 on 2024-05-15 (PROVISIONAL: that day may still be trading)');
    const formula = await callTool(client, 'formula', { expression: '{XAG}*2', date: today });
    expect(formula.text).toContain('PROVISIONAL price of 2024-05-15 so far');
    expect(formula.text).not.toContain('close');
  });

  test('the last row of a series is provisional only until the days of its interval are over', async () => {
    await api.service.publish('AL-AVG', { '2024-03-01': 2_300, '2024-04-01': 2_350 });
    const average = { symbol: 'AL-AVG', from: '2024-03-01', to: '2024-05-15' };
    for (const [interval, isProvisional] of [
      ['day', false],
      ['week', false],
      ['month', false],
      ['quarter', true],
      ['year', true],
    ] as const) {
      const { text } = await callTool(client, 'price_series', { ...average, interval });
      expect(text.includes('PROVISIONAL'), interval).toBe(isProvisional);
    }
  });

  test('the price of a session that a delayed plan still sees running is never called a close', async () => {
    const { service } = api;
    await service.setPlan({ name: 'late', delaySeconds: 30 * 3_600 });
    const late = await connectAgent(service.url, { 'x-api-key': await service.key('late') });
    const { time } = service.clock;
    service.clock.time += 24 * 60 * MINUTE; // on Thursday it sees Wednesday, 10:00 UTC
    await service.tick('PL', 1_000, time - 8 * 60 * MINUTE);
    const day = '2024-05-15';
    const price = await callTool(late, 'price_on_date', { symbols: ['PL'], date: day });
    const formula = await callTool(late, 'formula', { expression: '{PL}*2', date: day });
    for (const { text } of [price, formula]) expect(text).toContain(`PROVISIONAL price of ${day} so far`);
    const range = { from: day, to: day };
    const series = await callTool(late, 'price_series', { symbol: 'PL', ...range });
    expect(series.text).toContain('The last row is PROVISIONAL');
    service.clock.time += 14 * 60 * MINUTE; // midnight
    await service.core.follow();
    const over = await callTool(late, 'price_on_date', { symbols: ['PL'], date: day });
    expect(over.text).toContain(`close of ${day}`);
    await late.close();
    service.clock.time = time;
  });

  test('a bar of the running day is not called a close by latest_prices either', async () => {
    await api.service.publish('PA', { '2024-05-15': 950 });
    const { text } = await callTool(client, 'latest_prices', { symbols: ['PA'] });
    expect(text).toContain('PROVISIONAL price of 2024-05-15 so far');
  });

  test('a commodity is found before spreads that it is part of, and a ratio has no currency', async () => {
    const codes = async (query: string) =>
      (await callTool(client, 'find_symbols', { query })).text.split('\n').map((line) => line.split(':')[0]);
    expect((await codes('silver'))[0]).toBe('XAG');
    expect((await codes('wti'))[0]).toBe('WTIOIL-FUT');
    expect((await codes('brentwti'))[0]).toBe('BRENTWTI');
    const { text } = await callTool(client, 'find_symbols', { query: 'gold silver ratio' });
    expect(text).toStartWith('GOLDSILVER: Gold/Silver Ratio (Spreads), a ratio, without currency and unit, ');
  });

  test('a range may end after today in every tool that takes one, and an error costs nothing', async () => {
    const used = async () => (await api.ask('/usage')).body.used;
    const range = { symbols: ['XAU', 'XAG'], from: '2024-05-13', to: '2024-12-31' };
    for (const tool of ['price_change', 'price_statistics', 'compare']) {
      expect((await callTool(client, tool, range)).isError, tool).toBe(false);
    }
    const before = await used();
    for (const tool of ['price_change', 'price_statistics', 'compare']) {
      const { text } = await callTool(client, tool, { ...range, from: '2024-05-18' });
      expect(text, tool).toStartWith('"from" is in the future');
    }
    expect(await used()).toBe(before);
  });

  test('symbols without a close in the range are compared by the closes before it', async () => {
    const today = { symbols: ['XAU', 'CORN'], from: '2024-05-15', to: '2024-05-15' };
    const { text } = await callTool(client, 'compare', today);
    expect(text).toContain('XAU,0 %,2358.2 on 2024-05-14,2358.2 on 2024-05-14,');
    expect(text).toContain('XAU and CORN: too few common days');
  });

  test('the correlation of monthly series is not called one of daily returns', async () => {
    for (const [i, code] of ['NG-EU', 'NG-US'].entries()) {
      await api.service.publish(code, { '2024-01-01': 100, '2024-02-01': 110 + i, '2024-03-01': 105 });
    }
    const { text } = await callTool(client, 'compare', {
      symbols: ['NG-EU', 'NG-US'],
      from: '2024-01-01',
      to: '2024-03-01',
    });
    expect(text).toMatch(/\n\nCorrelation of log returns between common days:\nNG-EU and NG-US: 1\.000$/);
    expect(text).not.toContain('daily');
  });

  test('a long series is summarized, and complete as a resource', async () => {
    const days = Array.from({ length: 100 }, (_, i) =>
      new Date(Date.UTC(2022, 0, 3 + i)).toISOString().slice(0, 10),
    );
    await api.service.publish('TIN', Object.fromEntries(days.map((day, i) => [day, 1000 + i])));
    const asked = { symbol: 'TIN', from: days[0], to: days[99] };
    const { text, links } = await callTool(client, 'price_series', asked);
    expect(text).toContain('Lowest close 1000 on 2022-01-03, highest 1099 on 2022-04-12.');
    expect(text.split('\n')).toHaveLength(29);
    const [link] = links;
    expect(link).toMatchObject({ type: 'resource_link' });
    const { contents } = await client.readResource({ uri: link!.uri! });
    const lines = (contents[0] as { text: string }).text.split('\n');
    expect(lines).toHaveLength(101);
    expect(lines[100]).toBe('2022-04-12,1099,1099,1099,1099,1099,1');
  });

  test('has the guide and the symbols as resources', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['openpit://guide', 'openpit://symbols']);
    const read = async (uri: string) =>
      ((await client.readResource({ uri })).contents[0] as { text: string }).text;
    expect(await read('openpit://guide')).toContain('simulated');
    expect(await read('openpit://symbols')).toContain('\nXAU,');
  });

  test('an argument that a tool does not have is refused, with the ones it has', async () => {
    const { isError, text } = await callTool(client, 'latest_prices', { symbols: ['XAG'], quote: 'EUR' });
    expect(isError).toBe(true);
    expect(text).toEndWith('there is no argument quote; the arguments are symbols, currency, unit');
    expect((await callTool(client, 'usage', { month: '2024-05' })).text).toEndWith(
      'there is no argument month; this tool has none',
    );
    const { tools } = await client.listTools();
    for (const { inputSchema } of tools) expect(inputSchema.additionalProperties).toBe(false);
  });

  test('an error names the next call, and costs nothing', async () => {
    const used = async () => (await api.ask('/usage')).body.used;
    const before = await used();
    const { text, isError } = await callTool(client, 'latest_prices', { symbols: ['GOLDD'] });
    expect(isError).toBe(true);
    expect(text).toContain('did you mean XAU');
    expect(text).toContain('Call find_symbols');
    expect(await used()).toBe(before);
  });
});

describe('POST /mcp of a demo', () => {
  const api = apiOn('sqlite', { settings: { OPENPIT_DEMO: 'true' } }, async ({ service }) => {
    await service.publish('PL', { '2024-05-14': 1000 }, 'simulated');
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    await service.publish('EUR/USD', { '2024-05-14': 1.25 });
  });

  test.each([
    ['latest_prices', { symbols: ['PL'] }, 'simulated'],
    ['latest_prices', { symbols: ['PL'], currency: 'EUR' }, 'simulated, test'],
    ['price_on_date', { symbols: ['PL'], date: '2024-05-14', currency: 'EUR' }, 'simulated, test'],
    ['formula', { expression: '{XAU}-{PL}' }, 'test, simulated'],
  ])('%s %j says that a price is not real if any part of it is simulated', async (tool, args, source) => {
    const client = await connectAgent(api.service.url, { 'x-api-key': api.key });
    const { text } = await callTool(client, tool, args);
    await client.close();
    expect(text).toContain(`source: ${source}. THIS IS NOT A REAL PRICE`);
  });
});
