import { expect, test } from 'bun:test';
import { csv, feedBench, history } from '../../../test/support/feeds/feed-bench.ts';
import { stubProvider } from '../../../test/support/feeds/stub-provider.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { day, symbolOf } from '../../../test/support/ledgers.ts';
import type { Provider } from '../provider.ts';
import type { RunOptions } from './runner.ts';

/** Bodies are whole editions, unless a test says otherwise. */
const complete = (isComplete = true): Partial<Provider> => ({
  parse: (body, request) => ({ ...stubProvider('').parse(body, request), complete: isComplete }),
});
const without = (...dates: string[]) =>
  history().filter((row) => !dates.some((date) => row.startsWith(date)));

onEachEngine('an edition of a provider', (engine) => {
  const bench = feedBench(engine);
  const run = (rows: string[], options: RunOptions = {}, changes = complete()) => {
    bench.respond(csv(...rows));
    return bench.run(options, changes);
  };
  const currentDays = async () => {
    const current = new Map((await bench.revisions()).map((bar) => [bar.day, bar]));
    return [...current.values()].filter((bar) => !bar.withdrawn).length;
  };

  test('withdraws a day that is no longer in it, reports that, and restores the day when it returns', async () => {
    await run(history());
    expect(await run(without('2026-07-01'))).toMatchObject({
      status: 'ok',
      unchanged: 19,
      withdrawn: 1,
      notes: [
        {
          kind: 'withdrawn',
          where: `${bench.symbol} 2026-07-01`,
          reason: "was 4007, and is not in the provider's new edition",
        },
      ],
    });
    expect(await bench.lastRun()).toMatchObject({ withdrawn: 1 });
    expect(await currentDays()).toBe(19);
    expect(await bench.health()).toMatchObject({ days: 19 });
    expect(await run(without('2026-07-01'))).toMatchObject({ unchanged: 19, withdrawn: 0 });
    expect(await run(history())).toMatchObject({ taken: 1, unchanged: 19, withdrawn: 0 });
    const { id } = await symbolOf(bench.ledger, bench.symbol);
    const versions = await bench.ledger.bars.revisions(id, 'real', day('2026-07-01'), day('2026-07-01'));
    expect(versions).toMatchObject([
      { close: 4007, withdrawn: false },
      { withdrawn: 'source', reason: "feed run 2: not in the provider's new edition" },
      { close: 4007, withdrawn: false },
    ]);
  });

  test('withdraws a day that it marks as missing, or as zero', async () => {
    await run(history());
    const rows = history().map((row) =>
      row.startsWith('2026-07-01') ? '2026-07-01,.' : row.startsWith('2026-07-02') ? '2026-07-02,0' : row,
    );
    expect(await run(rows)).toMatchObject({
      status: 'ok',
      withdrawn: 2,
      refused: 1,
      missing: 1,
      reasons: [{ where: `${bench.symbol} 2026-07-02`, reason: expect.stringContaining('0 is not a price') }],
    });
  });

  test('withdraws nothing before its first day or after its last', async () => {
    await run(history());
    expect(await run(history().slice(4, 16))).toMatchObject({ status: 'ok', withdrawn: 0 });
    expect(await currentDays()).toBe(20);
  });

  test('withdraws nothing if it is not complete, or if another source has the day', async () => {
    await run(history());
    expect(await run(without('2026-07-01'), {}, complete(false))).toMatchObject({ withdrawn: 0 });
    const symbolId = (await symbolOf(bench.ledger, bench.symbol)).id;
    const bar = { symbolId, day: day('2026-07-01'), open: 4100, high: 4100, low: 4100, close: 4100 };
    await bench.ledger.bars.publish([bar], { source: 'desk', recordedAt: 0 });
    expect(await run(without('2026-07-01'))).toMatchObject({ withdrawn: 0 });
    expect(await currentDays()).toBe(20);
  });

  test('that would withdraw many days is held for the operator, who can accept it', async () => {
    await run(history());
    const broken = without('2026-07-01', '2026-07-02', '2026-07-03');
    expect(await run(broken)).toMatchObject({
      status: 'quarantined',
      message: `${bench.symbol}: 3 of 18 days are gone, the first 2026-07-01`,
      withdrawn: 0,
    });
    expect(await currentDays()).toBe(20);
    expect(await run(broken, { accept: true })).toMatchObject({ status: 'ok', withdrawn: 3 });
    expect(await currentDays()).toBe(17);
  });

  test('has its suspect bars held once, and the rest published', async () => {
    const spike = history().map((row) => (row.startsWith('2026-07-01') ? '2026-07-01,40070' : row));
    const held = () => bench.ledger.heldBars.list({ all: true, limit: 1_000 });
    const own = async () => (await held()).filter((bar) => bar.symbol === bench.symbol);
    expect(await run(spike)).toMatchObject({
      status: 'ok',
      taken: 19,
      held: 1,
      notes: [{ kind: 'held', where: `${bench.symbol} 2026-07-01` }],
    });
    expect(await run(spike)).toMatchObject({ unchanged: 19, held: 1, withdrawn: 0 });
    const [bar, ...more] = await own();
    expect(more).toEqual([]);
    expect(bar).toMatchObject({ close: 40_070, state: 'held', origin: 'feed run 1', source: bench.key });
    await bench.ledger.quarantine.drop(bar!.id, 0, 'operator');
    await run(spike);
    expect(await own()).toMatchObject([{ id: bar!.id, state: 'dropped' }]);
    await bench.ledger.quarantine.release(bar!.id, 0, 'operator');
    expect(await bench.closes()).toContain(40_070);
    expect(await run(spike)).toMatchObject({ unchanged: 20, held: 0 });
  });

  test('with a plausible price for a held day settles it', async () => {
    await run(history().map((row) => (row.startsWith('2026-07-01') ? '2026-07-01,40070' : row)));
    expect(await run(history())).toMatchObject({ taken: 1, held: 0 });
    const held = await bench.ledger.heldBars.list({ all: true, limit: 1_000 });
    expect(held.find((bar) => bar.symbol === bench.symbol)).toMatchObject({ state: 'dropped' });
  });
});
