import { expect, test } from 'bun:test';
import { csv, feedBench, GOOD, NOW } from '../../../test/support/feeds/feed-bench.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { DueFeeds } from './due-feeds.ts';

/** One day where there were 20 before: stored only by a run that accepts it. */
const SHRUNKEN = csv('2026-07-14,4020');

onEachEngine('a requested run of a feed', (engine) => {
  const bench = feedBench(engine);
  const dueFeeds = (holder: string) =>
    new DueFeeds(bench.parts({ holder, providers: [bench.provider()] }), () => {});
  const statuses = async () =>
    (await bench.ledger.feeds.history(9, bench.key)).map(({ status }) => status).reverse();
  const request = (accept: boolean) =>
    bench.ledger.as({ name: 'ada', via: 'page' }).feeds.requestRun(bench.key, accept);

  test('starts once, in whichever process takes it first', async () => {
    bench.respond(GOOD);
    await request(false);
    const processes = [dueFeeds('one'), dueFeeds('two')];
    for (let turn = 0; turn < 2; turn++) {
      await Promise.all(processes.map((due) => due.start(NOW)));
      await Promise.all(processes.map((due) => due.settled()));
    }
    expect(await statuses()).toEqual(['ok']);
  });

  test('starts after the run in progress, which does not accept doubtful prices', async () => {
    bench.respond(GOOD);
    await bench.run();
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Response>();
    bench.server.respond = () => {
      asked.resolve();
      return answer.promise;
    };
    const due = dueFeeds('one');
    await request(false);
    await due.start(NOW);
    await asked.promise;
    await request(true);
    await due.start(NOW);
    bench.respond(SHRUNKEN);
    answer.resolve(new Response(SHRUNKEN));
    await due.settled();
    expect(await statuses()).toEqual(['ok', 'quarantined']);
    for (let turn = 0; turn < 2; turn++) {
      await due.start(NOW);
      await due.settled();
    }
    expect(await statuses()).toEqual(['ok', 'quarantined', 'ok']);
  });

  test('waits while another process runs the feed, with one entry in the audit log', async () => {
    bench.respond(GOOD);
    await bench.run();
    bench.respond(SHRUNKEN);
    const { feeds, audit, engine } = bench.ledger;
    await feeds.take({ feed: bench.key, holder: 'other', leaseMs: 3_600_000, started: NOW });
    await request(true);
    const due = dueFeeds('one');
    for (let turn = 0; turn < 2; turn++) {
      await due.start(NOW);
      await due.settled();
    }
    expect(await statuses()).toEqual(['ok', 'running']);
    // The other process dies.
    await engine.write((tx) => tx`UPDATE feed SET lease_until = 0 WHERE key = ${bench.key}`);
    await due.start(NOW);
    await due.settled();
    expect(await statuses()).toEqual(['ok', 'failed', 'ok']);
    expect(await audit.list({ limit: 9, search: bench.key })).toMatchObject([{ details: { accept: true } }]);
  });
});
