import { expect, test } from 'bun:test';
import { csv, feedBench, GOOD, history, NOW } from '../../../test/support/feeds/feed-bench.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { symbolOf, unique } from '../../../test/support/ledgers.ts';
import { MS_PER_DAY, utcDay } from '../../market/day.ts';
import type { Provider } from '../provider.ts';

onEachEngine('a run', (engine) => {
  const bench = feedBench(engine);

  test('publishes what is new, corrects what changed, and records the source', async () => {
    bench.respond(GOOD);
    expect(await bench.run()).toMatchObject({
      status: 'ok',
      taken: 20,
      corrected: 0,
      unchanged: 0,
      requests: 1,
    });
    bench.respond(csv(...history(4020), '2026-07-14,.', '2026-07-15,4021', 'whenever,1'));
    expect(await bench.run()).toMatchObject({
      status: 'ok',
      taken: 1,
      corrected: 1,
      unchanged: 19,
      missing: 1,
      refused: 1,
    });
    const made = await bench.lastRun();
    expect(made).toMatchObject({
      feed: bench.key,
      number: 2,
      status: 'ok',
      started: NOW,
      ended: NOW,
      reasons: [{ where: 'line 24', reason: '"whenever,1" is no price of a day' }],
    });
    expect(made.bytes).toBeGreaterThan(100);
    const body = csv(...history(4020), '2026-07-14,.', '2026-07-15,4021', 'whenever,1');
    expect(made.bodyHash).toBe(new Bun.CryptoHasher('sha256').update(body).digest('hex'));
    const [before, after] = (await bench.revisions()).slice(-3);
    expect([before!.close, after!.close, after!.reason]).toEqual([4019, 4020, 'feed run 2']);
    expect((await bench.ledger.sources.names()).get(after!.sourceId)).toBe(bench.key);
  });

  test('two feeds that disagree do not overwrite each other', async () => {
    bench.respond(csv('2026-07-14,4000'));
    await bench.run();
    const other = unique('other');
    bench.respond(csv('2026-07-14,4001'));
    expect(await bench.run({}, { key: other })).toMatchObject({ taken: 0, corrected: 1 });
    bench.respond(csv('2026-07-14,4000'));
    expect(await bench.run()).toMatchObject({ taken: 0, corrected: 0, unchanged: 1 });
    bench.respond(csv('2026-07-14,4001'));
    expect(await bench.run({}, { key: other })).toMatchObject({ corrected: 0, unchanged: 1 });
    bench.respond(csv('2026-07-14,4002'));
    expect(await bench.run()).toMatchObject({ corrected: 1 });
    expect(await bench.closes()).toEqual([4000, 4001, 4002]);
  });

  test('sends its validators, and accepts a 304', async () => {
    bench.respond(GOOD, { etag: '"v1"' });
    await bench.run();
    bench.server.respond = (request) =>
      request.headers.get('if-none-match') === '"v1"'
        ? new Response(null, { status: 304 })
        : new Response(GOOD);
    expect(await bench.run()).toMatchObject({ status: 'unchanged', taken: 0, bodyHash: undefined });
    expect(await bench.run()).toMatchObject({ status: 'unchanged' }); // it still knows
    expect(await bench.lastRun()).toMatchObject({ number: 3, status: 'unchanged' });
    expect((await bench.health()).lastOkAt).toBe(NOW);
  });

  test('a body is fetched in full again if a symbol that it fills has lost its prices', async () => {
    bench.server.respond = (request) =>
      request.headers.get('if-none-match') === '"v1"'
        ? new Response(null, { status: 304 })
        : new Response(GOOD, { headers: { etag: '"v1"' } });
    await bench.run();
    const { id, real: _, ...gold } = await symbolOf(bench.ledger, bench.symbol);
    await bench.ledger.symbols.delete(id);
    await bench.ledger.symbols.upsert([gold], []);
    expect(await bench.run()).toMatchObject({ status: 'ok', taken: 20 });
    expect(await bench.run()).toMatchObject({ status: 'unchanged' });
  });

  test('a provider of monthly prices need not have one in the last two months', async () => {
    await bench.ledger.feeds.enable(bench.key, NOW, NOW + MS_PER_DAY);
    bench.respond(csv('2026-04-01,4000', '2026-05-01,4001'));
    expect(await bench.run({ dueAt: NOW })).toMatchObject({ status: 'ok', taken: 2 });
    bench.runtime.time = NOW + 2 * MS_PER_DAY;
    bench.respond(csv());
    expect(await bench.run({ dueAt: bench.runtime.time })).toMatchObject({ status: 'unchanged' });
    expect(await bench.health()).toMatchObject({ failures: 0, late: false, failing: [] });
  });

  test('a body that was not published is fetched in full again', async () => {
    bench.respond(csv('2026-07-14,4000', '2999-01-01,4000'), { etag: '"bad"' });
    expect(await bench.run()).toMatchObject({ status: 'quarantined' });
    bench.respond(GOOD);
    await bench.run();
    expect(bench.server.requests.at(-1)!.headers.has('if-none-match')).toBe(false);
  });

  test('follows a provider from page to page, and always fetches the first page in full', async () => {
    const pages: Record<string, string> = {
      '/prices.csv': csv('2026-07-13,4000', 'next,/2'),
      '/2': csv('2026-07-14,4001', 'next,/3'),
      '/3': csv('2026-07-15,4002'),
    };
    bench.server.respond = (request) => {
      const path = new URL(request.url).pathname;
      if (request.headers.get('if-none-match') === path) return new Response(null, { status: 304 });
      return new Response(pages[path]!, { headers: { etag: path } });
    };
    expect(await bench.run()).toMatchObject({ status: 'ok', taken: 3, requests: 3 });
    pages['/2'] = csv('2026-07-14,4001.5', 'next,/3');
    expect(await bench.run()).toMatchObject({ status: 'ok', corrected: 1, unchanged: 1, requests: 3 });
  });

  test('if a page fails, the pages before it are not published', async () => {
    bench.server.respond = (request) =>
      new URL(request.url).pathname === '/2'
        ? new Response('gone', { status: 404 })
        : new Response(csv('2026-07-13,4000', 'next,/2'));
    expect(await bench.run()).toMatchObject({ status: 'failed', message: 'the provider answered 404' });
    expect(await bench.closes()).toEqual([]);
  });

  test('a provider whose pages form a loop fails', async () => {
    bench.respond(csv('2026-07-13,4000', 'next,/prices.csv'));
    expect(await bench.run()).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('loop'),
    });
  });

  test('numbers are converted exactly to the unit of the symbol', async () => {
    const series = [{ id: 'GOLD', symbol: bench.symbol, currency: 'USD', unit: 'T.oz', factor: 31.1034768 }];
    bench.respond(csv('2026-07-14,129.1', '2026-07-15,128.9'));
    expect(await bench.run({}, { series })).toMatchObject({ taken: 2 });
    expect(await bench.closes()).toEqual([4015.45885488, 4009.23815952]);
  });

  test('a series that does not match its symbol is refused, an unmapped one is ignored, the rest is published', async () => {
    const symbol = bench.symbol;
    const series = [
      { id: 'GOLD', symbol, currency: 'USD', unit: 'T.oz' },
      { id: 'KILO', symbol, currency: 'USD', unit: 'kg' },
      { id: 'NONE', symbol: 'NO-SUCH', currency: 'USD', unit: 'kg' },
    ];
    bench.respond('date,GOLD,KILO,NONE,MORE\n2026-07-14,4000,1,2,3\n');
    expect(await bench.run({}, { series })).toMatchObject({
      status: 'ok',
      taken: 1,
      refused: 2,
      reasons: [
        { where: 'KILO', reason: expect.stringContaining('it is in USD/kg') },
        { where: 'NONE', reason: expect.stringContaining('there is no symbol NO-SUCH') },
      ],
    });
  });

  test('a key is sent, but never stored: not in the history, not in a reason', async () => {
    const secrets = { OPENPIT_TEST_KEY: 's3cret/+key' };
    const withKey: Partial<Provider> = {
      requiredSettings: ['OPENPIT_TEST_KEY'],
      requests: (given) => [
        { url: `${bench.server.url}/p?key=${encodeURIComponent(given.OPENPIT_TEST_KEY!)}` },
      ],
      parse: () => {
        throw new Error('the body says api_key=s3cret/+key and s3cret%2F%2Bkey');
      },
    };
    bench.respond(GOOD, { etag: '"v1"' });
    const { message } = (await bench.run({}, withKey, secrets))!;
    expect(bench.server.requests.at(-1)!.path).toContain('s3cret');
    expect(message).toBe('the body could not be read: the body says api_key=*** and ***');
    const missing = await bench.run({}, withKey, {});
    expect(missing).toMatchObject({ status: 'failed', message: 'OPENPIT_TEST_KEY must be set' });
    // The same body under a new key is the same body.
    const { parse } = bench.provider();
    await bench.run({}, { ...withKey, parse }, secrets);
    await bench.run({}, { ...withKey, parse }, { OPENPIT_TEST_KEY: 'another' });
    expect(bench.server.requests.at(-1)!.headers.get('if-none-match')).toBe('"v1"');
    expect(JSON.stringify(await bench.ledger.engine.read`SELECT * FROM feed_body`)).not.toContain('s3cret');
    expect(JSON.stringify(await bench.ledger.feeds.history(100, bench.key))).not.toContain('s3cret');
  });

  test('a mirror can replace the provider', async () => {
    bench.respond(GOOD);
    const requests = () => [{ url: 'https://prices.example/a/prices.csv?id=1' }];
    expect(await bench.run({ baseUrl: `${bench.server.url}/mirror` }, { requests })).toMatchObject({
      taken: 20,
    });
    expect(bench.server.requests.at(-1)!.path).toBe('/mirror/a/prices.csv?id=1');
  });

  test('scheduled runs fetch the last 60 days, and all history once a week', async () => {
    const asked: (number | undefined)[] = [];
    const requests = (_: unknown, since?: number) => {
      asked.push(since);
      return [{ url: `${bench.server.url}/prices.csv?since=${since}` }];
    };
    bench.respond(GOOD);
    await bench.ledger.feeds.enable(bench.key, NOW, NOW);
    const run = () => bench.run({ dueAt: Number.MAX_SAFE_INTEGER }, { requests });
    await run();
    bench.runtime.time += MS_PER_DAY;
    await run();
    bench.runtime.time += 7 * MS_PER_DAY;
    await run();
    await run();
    const today = utcDay(NOW);
    expect(asked).toEqual([undefined, today + 1 - 60, undefined, today + 8 - 60]);
    await bench.run({}, { requests }); // by hand
    expect(asked.at(-1)).toBeUndefined();
  });
});
