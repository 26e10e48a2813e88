import { expect, test } from 'bun:test';
import { feedBench, GOOD, NOW } from '../../../test/support/feeds/feed-bench.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { unique } from '../../../test/support/ledgers.ts';
import type { Provider } from '../provider.ts';
import { runFeed } from './runner.ts';

onEachEngine('two feeds with a series for one symbol', (engine) => {
  const bench = feedBench(engine);
  const pair = (): [Provider, Provider] => [
    bench.provider({ key: unique('near') }),
    bench.provider({ key: unique('far') }),
  ];

  test('do not correct each other: the first enabled one fills it, and the other reports that', async () => {
    const [near, far] = pair();
    const parts = bench.parts({ providers: [near, far] });
    for (const { key } of [far, near]) await bench.ledger.feeds.enable(key, NOW, NOW + 1);
    bench.respond(GOOD);
    expect(await runFeed(near, parts)).toMatchObject({ status: 'ok', taken: 20, notes: [] });
    bench.respond(GOOD.replaceAll(',40', ',50'));
    expect(await runFeed(far, parts)).toMatchObject({
      status: 'unchanged',
      taken: 0,
      corrected: 0,
      notes: [{ kind: 'elsewhere', where: near.key, reason: `fills ${bench.symbol}` }],
    });
    expect((await bench.revisions()).length).toBe(20);
    const [kept] = await bench.ledger.feeds.history(1, far.key);
    expect(kept!.notes).toHaveLength(1);

    await bench.ledger.feeds.disable(near.key);
    expect(await runFeed(far, parts)).toMatchObject({ status: 'ok', corrected: 20, notes: [] });
  });

  test('a manual run of a disabled feed does not fill what another fills', async () => {
    const [near, far] = pair();
    const parts = bench.parts({ providers: [near, far] });
    await bench.ledger.feeds.enable(far.key, NOW, NOW + 1);
    bench.respond(GOOD);
    expect(await runFeed(near, parts)).toMatchObject({
      taken: 0,
      notes: [{ kind: 'elsewhere', where: far.key }],
    });
    expect(await runFeed(far, parts)).toMatchObject({ status: 'ok', taken: 20 });
  });

  test('a body of one series is not requested if the series is not needed', async () => {
    const [near, far] = pair();
    await bench.ledger.feeds.enable(near.key, NOW, NOW + 1);
    const requests: Provider['requests'] = () => [{ url: `${bench.server.url}/gold.csv`, series: 'GOLD' }];
    const before = bench.server.requests.length;
    const asked = { ...far, requests };
    expect(await runFeed(asked, bench.parts({ providers: [near, asked] }))).toMatchObject({ requests: 0 });
    expect(bench.server.requests.length).toBe(before);
  });

  test('inconsistent and skipped rows are in the report of the run', async () => {
    const odd = bench.provider({
      key: unique('odd'),
      parse: () => ({
        observations: [{ series: 'GOLD', day: 20_000, open: 5, high: 4, low: 3, close: 4 }],
        missing: 0,
        refused: [],
        odd: [{ where: 'bar 0', reason: 'open 5 is above high 4' }],
        ignored: [{ where: 'bar 1', reason: 'it is still forming' }],
      }),
    });
    bench.respond(GOOD);
    await runFeed(odd, bench.parts());
    expect((await bench.ledger.feeds.history(1, odd.key))[0]).toMatchObject({
      taken: 1,
      odd: 1,
      ignored: 1,
      notes: [
        { kind: 'odd', where: 'bar 0', reason: 'open 5 is above high 4' },
        { kind: 'ignored', where: 'bar 1', reason: 'it is still forming' },
      ],
    });
  });
});
