import { describe, expect, test } from 'bun:test';
import { csv, feedBench, GOOD, longHistory, NOW } from '../../../test/support/feeds/feed-bench.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { day } from '../../../test/support/ledgers.ts';
import { takeLease } from '../../ledger/operations/feed-runs.ts';
import { runFeed } from './runner.ts';

onEachEngine('scheduled runs', (engine) => {
  const bench = feedBench(engine);

  test('the next run is at the next slot; after a failure sooner, but never sooner than the provider allows', async () => {
    await bench.ledger.feeds.enable(bench.key, NOW, NOW);
    bench.respond(GOOD);
    await bench.run({ dueAt: NOW });
    expect((await bench.health()).nextRunAt).toBe(Date.parse('2026-07-15T16:00:00Z')); // 18:00 in Berlin
    expect(await bench.run({ dueAt: NOW })).toBeUndefined(); // not due any more
    bench.runtime.time = Date.parse('2026-07-15T16:00:00Z');
    bench.server.respond = () => new Response('', { status: 404 });
    await bench.run({ dueAt: bench.runtime.time });
    const first = (await bench.health()).nextRunAt! - bench.runtime.time;
    expect(first).toBeGreaterThanOrEqual(15 * 60_000);
    expect(first).toBeLessThan(20 * 60_000);
    await bench.run();
    expect((await bench.health()).nextRunAt! - bench.runtime.time).toBeGreaterThanOrEqual(2 * 15 * 60_000);
    bench.server.respond = () => new Response('', { status: 503, headers: { 'retry-after': '200000' } });
    await bench.run();
    expect((await bench.health()).nextRunAt).toBe(bench.runtime.time + 200_000_000);
  });

  test('a feed is late after two slots without a successful run', async () => {
    await bench.ledger.feeds.enable(bench.key, NOW, NOW + 1);
    bench.respond(GOOD);
    await bench.run();
    const second = Date.parse('2026-07-16T16:00:00Z');
    expect((await bench.health(second)).late).toBe(false);
    expect((await bench.health(second + 600_001)).late).toBe(true);
    await bench.ledger.feeds.disable(bench.key);
    expect(await bench.health(second + 600_001)).toMatchObject({ late: false, nextRunAt: undefined });
  });

  test('health reports the number of days, the first, the last and the gaps', async () => {
    bench.respond(
      csv('2026-07-06,4000', '2026-07-07,4001', '2026-07-09,4002', '2026-07-10,4003', '2026-07-14,4004'),
    );
    await bench.run();
    expect(await bench.health()).toMatchObject({
      days: 5,
      gaps: 2,
      firstDay: day('2026-07-06'),
      lastDay: day('2026-07-14'),
    });
  });

  test('a long run reports its progress', async () => {
    bench.respond(longHistory(4_500));
    const told: string[] = [];
    await bench.run({ onProgress: (what, done, total) => told.push(`${what} ${done}/${total}`) });
    expect(told).toEqual([
      'fetched 1/1',
      'published 2000/4500',
      'published 4000/4500',
      'published 4500/4500',
    ]);
  });

  describe('an interrupted run', () => {
    test('is still due after a stop, and the next run completes it', async () => {
      await bench.ledger.feeds.enable(bench.key, NOW, NOW);
      bench.respond(longHistory(5_000), { etag: '"long"' });
      const stop = new AbortController();
      const onProgress = (what: string) => {
        if (what === 'published') stop.abort();
      };
      const cut = await runFeed(bench.provider(), bench.parts({ signal: stop.signal }), { onProgress });
      expect(cut).toMatchObject({
        status: 'failed',
        message: expect.stringContaining('the run was stopped; the next run'),
      });
      expect(await bench.revisions()).toHaveLength(2_000);
      expect(await bench.ledger.feeds.due(bench.runtime.time)).toContain(bench.key);
      expect(await bench.run({ dueAt: bench.runtime.time })).toMatchObject({
        taken: 3_000,
        unchanged: 2_000,
      });
      expect(await bench.run()).toMatchObject({ unchanged: 5_000 });
    });

    test('writes nothing more after losing its lease, and leaves the other run alone', async () => {
      const { key, ledger } = bench;
      bench.respond(longHistory(9_000));
      let taken: Promise<unknown> | undefined;
      const onProgress = (what: string) => {
        if (what !== 'published') return;
        taken ??= ledger.engine.write(async (tx) => {
          await tx`UPDATE feed SET lease_until = 0 WHERE key = ${key}`;
          return takeLease(ledger.engine, tx, { feed: key, holder: 'other', leaseMs: 60_000, started: NOW });
        });
      };
      const lost = await bench.run({ onProgress });
      expect(await taken).toMatchObject({ number: 2 });
      expect(lost).toMatchObject({ status: 'failed', message: expect.stringContaining('another runner') });
      expect((await bench.revisions()).length).toBeLessThan(9_000);
      expect(await ledger.feeds.history(5, key)).toMatchObject([
        { number: 2, status: 'running' },
        { number: 1, status: 'failed', message: expect.stringContaining('the runner ended in the middle') },
      ]);
    });
  });

  test('of two runners that race for a due feed, one runs it', async () => {
    await bench.ledger.feeds.enable(bench.key, NOW, NOW);
    bench.respond(GOOD);
    const asked = bench.server.requests.length;
    const racers = ['a', 'b', 'c', 'd'].map((holder) =>
      runFeed(bench.provider(), bench.parts({ holder }), { dueAt: NOW }),
    );
    const ended = (await Promise.all(racers)).filter((result) => result !== undefined);
    expect(ended).toMatchObject([{ status: 'ok', taken: 20 }]);
    expect(bench.server.requests.length - asked).toBe(1);
    expect(await bench.ledger.feeds.history(5, bench.key)).toHaveLength(1);
  });
});
