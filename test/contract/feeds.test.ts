import { expect, test } from 'bun:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import {
  CUT_SHORT,
  type FinishedRun,
  LeaseLost,
  type RunReport,
} from '../../src/ledger/operations/feed-runs.ts';
import { EMPTY_RUN } from '../support/feeds/run-report.ts';
import { onEachEngine } from '../support/ledger.ts';
import { day, flat, ledgersOf, NOW, newSymbol, unique } from '../support/ledgers.ts';

const REPORT: RunReport = {
  ...EMPTY_RUN,
  taken: 3,
  corrected: 2,
  unchanged: 1,
  missing: 4,
  refused: 1,
  reasons: [{ where: 'line 2', reason: 'no day' }],
  odd: 1,
  ignored: 1,
  notes: [{ kind: 'odd', where: 'line 3', reason: 'its high is below its low' }],
};
const DONE: FinishedRun = { ended: NOW + 5, report: REPORT, nextRun: NOW + 1_000, lateAt: NOW + 2_000 };

onEachEngine('feeds', (engine) => {
  const ledgers = ledgersOf(engine);
  const take = (ledger: Ledger, feed: string, holder: string, leaseMs = 60_000) =>
    ledger.feeds.take({ feed, holder, leaseMs, started: NOW });
  const healthOf = async (ledger: Ledger, key: string, now = NOW) =>
    (await ledger.feeds.health(now)).find((feed) => feed.key === key);

  test('a feed is disabled until it is enabled, and then due immediately', async () => {
    const ledger = await ledgers.shared();
    const key = unique('feed');
    expect(await ledger.feeds.due(NOW)).not.toContain(key);
    await ledger.feeds.enable(key, NOW, NOW + 9);
    expect(await ledger.feeds.due(NOW - 1)).not.toContain(key);
    expect(await ledger.feeds.due(NOW)).toContain(key);
    expect(await healthOf(ledger, key)).toEqual({
      key,
      enabled: true,
      late: false,
      lateAt: NOW + 9,
      lastRun: undefined,
      lastOkAt: undefined,
      nextRunAt: NOW,
      failures: 0,
      failing: [],
      days: 0,
      gaps: 0,
      firstDay: undefined,
      lastDay: undefined,
    });
    expect((await healthOf(ledger, key, NOW + 10))!.late).toBe(true);
    await ledger.feeds.enable(key, NOW + 50, NOW + 99); // already enabled
    expect((await healthOf(ledger, key))!.nextRunAt).toBe(NOW);
    await ledger.feeds.disable(key);
    expect(await ledger.feeds.due(NOW)).not.toContain(key);
  });

  test('of many concurrent claims of a feed, one succeeds', async () => {
    const [one, other] = await ledgers.pair();
    for (let round = 0; round < 5; round++) {
      const key = unique('feed');
      const asked = Array.from({ length: 8 }, (_, i) => take(i % 2 ? one : other, key, `holder ${i}`));
      const got = (await Promise.all(asked)).filter((lease) => lease !== undefined);
      expect(got).toHaveLength(1);
      expect(got[0]!.number).toBe(1);
    }
  });

  test('concurrent changes of the addresses of a feed are all kept', async () => {
    const [ledger, other] = await ledgers.pair();
    const key = unique('feed');
    const names = Array.from({ length: 10 }, (_, i) => `address${i}`);
    await Promise.all(
      names.map((name, i) =>
        [ledger, other][i % 2]!.feeds.changeUrls(key, (known) => ({ ...known, [name]: 'https://a.example' })),
      ),
    );
    expect(Object.keys(await ledger.feeds.urls(key)).sort()).toEqual(names);
  });

  test('a lease is held while it is renewed, and taken over when its holder has died', async () => {
    const [mine, theirs] = await ledgers.pair();
    const key = unique('feed');
    await mine.feeds.enable(key, NOW, NOW);
    const lease = (await take(mine, key, 'me'))!;
    expect(await take(theirs, key, 'them')).toBeUndefined();
    expect(await theirs.feeds.due(NOW)).not.toContain(key);
    await mine.feeds.renew({ ...lease, leaseMs: 0 }); // expired
    expect(await theirs.feeds.due(NOW)).toContain(key);
    const over = await take(theirs, key, 'them');
    expect(over).toMatchObject({ number: 2, holder: 'them' });
    expect(await theirs.feeds.history(9, key)).toMatchObject([
      { number: 2, status: 'running', ended: undefined },
      { number: 1, status: 'failed', message: CUT_SHORT },
    ]);
    await expect(mine.feeds.renew(lease)).rejects.toThrow(LeaseLost);
    await expect(mine.feeds.finish(lease, DONE)).rejects.toThrow(LeaseLost);
    await theirs.feeds.finish(over!, DONE);
    expect(await theirs.feeds.history(1, key)).toMatchObject([{ number: 2, status: 'ok' }]);
  });

  test('the same holder does not keep a lease by taking it twice', async () => {
    const ledger = await ledgers.shared();
    const key = unique('feed');
    const first = (await take(ledger, key, 'me', 0))!;
    const second = (await take(ledger, key, 'me'))!;
    await expect(ledger.feeds.renew(first)).rejects.toThrow(LeaseLost);
    await ledger.feeds.renew(second);
  });

  test('bars are written with the lease or not at all', async () => {
    const ledger = await ledgers.shared();
    const { id: symbolId } = await newSymbol(ledger);
    const key = unique('feed');
    const lost = (await take(ledger, key, 'me', 0))!;
    const held = (await take(ledger, key, 'them'))!;
    const bars = [{ symbolId, day: day('2026-07-13'), ...flat(1) }];
    const publish = (lease: typeof lost) =>
      ledger.bars.publish(bars, {
        source: key,
        recordedAt: NOW,
        before: (tx) => ledger.feeds.renewWithin(tx, lease),
      });
    const before = await ledger.head();
    await expect(publish(lost)).rejects.toThrow(LeaseLost);
    expect(await ledger.head()).toEqual(before);
    expect(await ledger.bars.recent.span(symbolId, 'real')).toBeUndefined();
    expect(await publish(held)).toMatchObject({ taken: 1 });
  });

  test('the report of a run is stored as given', async () => {
    const ledger = await ledgers.shared();
    const key = unique('feed');
    const lease = (await take(ledger, key, 'me'))!;
    const bodies = [{ urlHash: 'u', etag: '"x"', lastModified: undefined, observations: 7 }];
    const coverage = { days: 12, gaps: 3, firstDay: -5, lastDay: 20 };
    await ledger.feeds.finish(lease, { ...DONE, bodies, coverage });
    const expected = { feed: key, number: 1, started: NOW, ended: NOW + 5, ...REPORT };
    expect(await ledger.feeds.history(9, key)).toEqual([expected]);
    expect((await ledger.feeds.history(1_000)).filter((run) => run.feed === key)).toEqual([expected]);
    expect([...(await ledger.feeds.bodies(key)).values()]).toEqual(bodies);
    expect(await healthOf(ledger, key)).toMatchObject({
      enabled: false,
      lastRun: { number: 1, started: NOW, status: 'ok', message: undefined },
      lastOkAt: NOW + 5,
      ...coverage,
    });
  });

  test('a failed run changes no stored state except the count of failures', async () => {
    const ledger = await ledgers.shared();
    const key = unique('feed');
    await ledger.feeds.enable(key, NOW, NOW);
    const bodies = [{ urlHash: 'u', etag: '"x"', lastModified: 'then', observations: 7 }];
    await ledger.feeds.finish((await take(ledger, key, 'me'))!, { ...DONE, bodies });
    const failed: RunReport = { ...REPORT, status: 'failed', message: 'it answered 500' };
    for (const failures of [1, 2]) {
      const lease = (await take(ledger, key, 'me'))!;
      expect(lease.failures).toBe(failures - 1);
      await ledger.feeds.finish(lease, { ended: NOW + 7, report: failed, nextRun: NOW + 77 });
      expect(await healthOf(ledger, key)).toMatchObject({ failures, lastOkAt: NOW + 5, nextRunAt: NOW + 77 });
    }
    expect([...(await ledger.feeds.bodies(key)).values()]).toEqual(bodies);
    await ledger.feeds.finish((await take(ledger, key, 'me'))!, DONE);
    expect(await healthOf(ledger, key)).toMatchObject({ failures: 0 });
  });

  test('old runs, and bodies that are no longer used, are deleted', async () => {
    const ledger = await ledgers.shared();
    const key = unique('feed');
    const body = { etag: undefined, lastModified: undefined, observations: 1 };
    const finish = async (urlHash: string) =>
      ledger.feeds.finish((await take(ledger, key, 'me'))!, { ...DONE, bodies: [{ ...body, urlHash }] });
    await finish('old');
    await finish('kept');
    await ledger.engine.write((tx) => tx`UPDATE feed SET last_run = 49 WHERE key = ${key}`);
    await finish('kept');
    expect([...(await ledger.feeds.bodies(key)).keys()].sort()).toEqual(['kept', 'old']);
    await finish('new');
    expect([...(await ledger.feeds.bodies(key)).keys()].sort()).toEqual(['kept', 'new']);
    await ledger.engine.write((tx) => tx`UPDATE feed SET last_run = 1001 WHERE key = ${key}`);
    await finish('new');
    expect((await ledger.feeds.history(9, key)).map((run) => run.number)).toEqual([1_002, 51, 50]);
  });

  test('a bar is compared with the last bar of its own source on request', async () => {
    const ledger = await ledgers.shared();
    const { id: symbolId } = await newSymbol(ledger);
    const [a, b] = [unique('a'), unique('b')];
    const say = (source: string, price: number, comparedWith: 'own' | 'current' = 'own') =>
      ledger.bars.publish([{ symbolId, day: day('2026-07-13'), ...flat(price) }], {
        source,
        recordedAt: NOW,
        comparedWith,
      });
    const taken = { taken: 1, corrected: 0, unchanged: 0 };
    const corrected = { taken: 0, corrected: 1, unchanged: 0 };
    const unchanged = { taken: 0, corrected: 0, unchanged: 1 };
    expect(await say(a, 1)).toEqual(taken);
    expect(await say(b, 2)).toEqual(corrected); // the day's price changes
    expect(await say(a, 1)).toEqual(unchanged); // it reported this before
    expect(await say(a, 2)).toEqual(corrected); // its own report changes
    expect(await say(b, 2)).toEqual(unchanged);
    expect(await say(unique('c'), 2)).toEqual(taken); // a new source, the same price
    expect(await say(b, 2, 'current')).toEqual(taken); // compared with the current bar, which another source wrote
    expect(await ledger.feeds.daysOf(a, symbolId)).toEqual([day('2026-07-13')]);
  });
});
