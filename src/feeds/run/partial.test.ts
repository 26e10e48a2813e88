import { describe, expect, test } from 'bun:test';
import { csv, feedBench, history, NOW } from '../../../test/support/feeds/feed-bench.ts';
import { SeveralSeries, seriesIn } from '../../../test/support/feeds/several-series.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { eia } from '../providers/eia.ts';
import { FeedStates } from '../thread/feed-states.ts';

onEachEngine('a feed of several series', (engine) => {
  const bench = feedBench(engine);
  const series = new SeveralSeries(bench);
  const { code, run, bars, respond, health } = series;

  test('one that no longer exists fails by name, and the others are published', async () => {
    respond({ SILVER: 404 });
    const result = await run();
    expect(result).toMatchObject({
      status: 'partial',
      message: '1 of 3 series failed: SILVER: the provider answered 404',
      taken: 40,
      notes: [{ kind: 'failed', where: 'SILVER', reason: 'the provider answered 404' }],
    });
    expect([await bars('GOLD'), await bars('SILVER'), await bars('TIN')]).toEqual([20, 0, 20]);
    const { failing, failures, lastRun, lastOkAt } = await health();
    expect({ failures, status: lastRun?.status, lastOkAt }).toEqual({
      failures: 0,
      status: 'partial',
      lastOkAt: NOW,
    });
    expect(failing).toMatchObject([{ series: 'SILVER', reason: 'the provider answered 404', since: NOW }]);
  });

  test('an unreadable body fails only its own series', async () => {
    bench.server.respond = (request) =>
      new Response(request.url.includes('TIN') ? 'when,what\n' : `date,${seriesIn(request)}\n2026-07-13,1\n`);
    const { status, message } = await run();
    expect(status).toBe('partial');
    expect(message).toContain('TIN: the body could not be read: the first line does not begin with "date"');
  });

  test('if all fail, the run fails with one message', async () => {
    respond({ GOLD: 404, SILVER: 404, TIN: 404 });
    expect(await run()).toMatchObject({ status: 'failed', message: 'the provider answered 404', taken: 0 });
    respond({ GOLD: 404, SILVER: 403, TIN: 404 });
    expect(await run()).toMatchObject({
      status: 'failed',
      message: 'every series failed; the first: GOLD: the provider answered 404',
    });
    expect((await health()).failing).toEqual([]);
  });

  test('a provider that is down is not contacted for each of a hundred series', async () => {
    const many = Array.from({ length: 100 }, (_, i) => `S${i}`);
    const series = many.map((id) => ({ id, symbol: code('GOLD'), currency: 'USD', unit: 'T.oz' }));
    const requests = () => many.map((id) => ({ url: `${bench.server.url}/${id}.csv`, series: id }));
    bench.server.respond = () => new Response('', { status: 503 });
    const before = bench.server.requests.length;
    const { status, message } = await run('each', {}, { series, requests });
    expect(status).toBe('failed');
    expect(message).toContain('the provider answered 503');
    expect(bench.server.requests.length - before).toBe(9); // three series, three attempts each
  });

  test('an outage of one series is retried early, but only once', async () => {
    await bench.ledger.feeds.enable(bench.key, NOW, NOW + DAY_MS);
    const slot = NOW + 2 * 60 * 60_000; // 18:00 in Berlin
    respond({ TIN: 500 });
    expect((await run()).message).toContain('TIN: the provider answered 500 (3 attempts)');
    expect((await health()).nextRunAt).toBeLessThan(slot);
    await run();
    expect((await health()).nextRunAt).toBe(slot);
  });

  test('one that recovers is fetched with all history, and is no longer failing', async () => {
    await bench.ledger.feeds.enable(bench.key, NOW, NOW);
    respond({ SILVER: 404 });
    await run();
    bench.runtime.time += DAY_MS;
    respond();
    const before = bench.server.requests.length;
    expect((await run('each', { dueAt: bench.runtime.now() }))?.status).toBe('ok');
    const asked = bench.server.requests.slice(before).map(({ path }) => path);
    expect(asked.sort()).toEqual(['/GOLD.csv?since', '/SILVER.csv', '/TIN.csv?since']);
    expect((await health()).failing).toEqual([]);
    expect(await bars('SILVER')).toBe(20);
  });

  test('only the symbol of a failing series becomes stale, when the feed would be late', async () => {
    await bench.ledger.feeds.enable(bench.key, NOW, NOW + DAY_MS);
    respond();
    await run();
    const lateAt = (await health()).lateAt!;
    respond({ SILVER: 404 });
    for (let day = 1; day <= 7; day++) {
      bench.runtime.time = NOW + day * DAY_MS;
      await run();
    }
    const feedStates = new FeedStates(bench.ledger, [series.provider('each')]);
    await feedStates.follow(bench.runtime.now());
    expect(feedStates.lateFrom(code('SILVER'))).toBe(lateAt);
    expect(feedStates.lateFrom(code('GOLD'))!).toBeGreaterThan(bench.runtime.now());
    expect((await health()).failing).toMatchObject([{ series: 'SILVER', since: NOW + DAY_MS, lateAt }]);
    const [feed] = feedStates.list();
    expect(feed!.failing).toMatchObject([{ series: 'SILVER', symbol: code('SILVER') }]);
  });

  test('a run that fails as a whole keeps the list of failing series', async () => {
    respond({ SILVER: 404 });
    await run();
    respond({ GOLD: 404, SILVER: 404, TIN: 404 });
    await run();
    expect((await health()).failing).toMatchObject([{ series: 'SILVER' }]);
  });

  test('a body that shrank fails only its own series, unless the operator accepts it', async () => {
    respond();
    await run();
    bench.server.respond = (request) => {
      const id = seriesIn(request);
      return new Response(
        `date,${id}\n${history(5_000)
          .slice(id === 'TIN' ? 15 : 0)
          .join('\n')}\n`,
      );
    };
    expect((await run()).message).toBe('1 of 3 series failed: TIN: 5 observations, but 20 the last time');
    expect((await run('each', { accept: true })).status).toBe('ok');
  });

  describe('in one body', () => {
    const table = (...ids: string[]) =>
      `date,${ids.join(',')}\n${history()
        .map((row) => `${row}${`,${row.split(',')[1]}`.repeat(ids.length - 1)}`)
        .join('\n')}\n`;

    test('one that is absent fails by name until it returns', async () => {
      bench.respond(table('GOLD', 'SILVER', 'TIN'), { ETag: '"1"' });
      expect((await run('one')).status).toBe('ok');
      bench.respond(table('GOLD', 'TIN'), { ETag: '"2"' });
      const partial = await run('one');
      expect(partial).toMatchObject({
        status: 'partial',
        message: '1 of 3 series failed: SILVER: the provider sent no values for it',
      });
      // The body is asked for without its tag: unchanged, it would look as if nothing was missing.
      expect((await run('one')).status).toBe('partial');
      expect(bench.server.requests.at(-1)!.headers.get('if-none-match')).toBeNull();
      bench.respond(table('GOLD', 'SILVER', 'TIN'), { ETag: '"3"' });
      expect((await run('one')).status).toBe('ok');
      expect((await health()).failing).toEqual([]);
    });

    test('one that never existed is not reported', async () => {
      bench.respond(csv(...history()));
      expect((await run('one')).status).toBe('ok');
    });
  });
});

test('each EIA request declares its series', () => {
  const requests = eia.requests({ OPENPIT_EIA_API_KEY: 'k' });
  expect(requests.flatMap(({ covers }) => covers ?? []).sort()).toEqual(
    eia.series.map(({ id }) => id).sort(),
  );
});
