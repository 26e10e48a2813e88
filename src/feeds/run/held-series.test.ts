import { expect, test } from 'bun:test';
import { feedBench, history } from '../../../test/support/feeds/feed-bench.ts';
import { SeveralSeries, seriesIn } from '../../../test/support/feeds/several-series.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import type { Provider } from '../provider.ts';

onEachEngine('a suspect series among several', (engine) => {
  const bench = feedBench(engine);
  const { code, run, bars, respond, health } = new SeveralSeries(bench);

  /** Responds with the history for each series, and behind it what a test gives for some of them. */
  function respondAfter(rows: Record<string, readonly string[]>): void {
    bench.server.respond = (request) => {
      const id = seriesIn(request);
      const more = rows[id] ?? ['2026-07-14,4020', '2026-07-15,4021'];
      return new Response(`date,${id}\n${[...history(), ...more].join('\n')}\n`);
    };
  }
  const inCents = ['2026-07-14,402000', '2026-07-15,402100'];
  const jump = '2026-07-13 is 4019 and 2026-07-14 is 402000, a jump by about 100, as when a unit changes';

  test.each([
    ['its unit seems to have changed', inCents, jump],
    ['it has a day in the future', ['2999-01-01,4020'], '2999-01-01 is in the future'],
    ['it has a day twice', ['2026-07-13,4018.5'], '2026-07-13 appears twice with different prices'],
  ])('that is held because %s is reported by name, and the others are published', async (_, rows, reason) => {
    respond();
    await run();
    respondAfter({ SILVER: rows });
    expect(await run()).toMatchObject({
      status: 'partial',
      message: `1 of 3 series held: SILVER: ${reason}`,
      taken: 4,
      unchanged: 40,
      notes: [{ kind: 'failed', where: 'SILVER', reason: `held: ${reason}` }],
    });
    expect([await bars('GOLD'), await bars('SILVER'), await bars('TIN')]).toEqual([22, 20, 22]);
    const { failing, lastRun } = await health();
    expect(lastRun?.status).toBe('partial');
    expect(failing).toMatchObject([{ series: 'SILVER', reason: `held: ${reason}` }]);
  });

  test('that lost many days keeps them, and the others are published', async () => {
    const { parse } = bench.provider();
    const complete: Partial<Provider> = {
      parse: (body, request) => ({ ...parse(body, request), complete: true }),
    };
    respond();
    await run('each', {}, complete);
    const some = history().filter((_, i) => i < 5 || i > 8);
    bench.server.respond = (request) => {
      const id = seriesIn(request);
      const rows = id === 'SILVER' ? some : history().filter((_, i) => i !== 5);
      return new Response(`date,${id}\n${rows.join('\n')}\n`);
    };
    expect(await run('each', {}, complete)).toMatchObject({
      status: 'partial',
      message: '1 of 3 series held: SILVER: 4 of 18 days are gone, the first 2026-06-29',
      withdrawn: 2,
    });
  });

  test('is published when the operator accepts it, not before', async () => {
    respond();
    await run();
    respondAfter({ SILVER: inCents });
    await run();
    expect(await run()).toMatchObject({ status: 'partial', unchanged: 44 });
    expect(await run('each', { accept: true })).toMatchObject({ status: 'ok', taken: 2 });
    expect((await health()).failing).toEqual([]);
    expect((await run()).status).toBe('ok');
  });

  test('is reported beside one that failed', async () => {
    respond();
    await run();
    bench.server.respond = (request) => {
      const id = seriesIn(request);
      const rows = [...history(), ...(id === 'SILVER' ? inCents : [])];
      return new Response(`date,${id}\n${rows.join('\n')}\n`, { status: id === 'TIN' ? 404 : 200 });
    };
    expect((await run()).message).toBe(
      `1 of 3 series failed: TIN: the provider answered 404; 1 of 3 series held: SILVER: ${jump}`,
    );
  });

  test('quarantines the run if every series is suspect', async () => {
    respond();
    await run();
    respondAfter({ GOLD: inCents, SILVER: inCents, TIN: inCents });
    expect(await run()).toMatchObject({
      status: 'quarantined',
      message: `${code('GOLD')}: ${jump}`,
      taken: 0,
    });
  });
});
