import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readyLedgerUrl } from '../../test/support/database/ready-ledger.ts';
import { onEachEngine } from '../../test/support/ledger.ts';
import { flat } from '../../test/support/ledgers.ts';
import { Ledger } from '../ledger/ledger.ts';
import { SIMULATED } from '../ledger/symbols/sources.ts';
import { utcDay } from '../market/day.ts';
import { Board } from './board.ts';

const NOON = Date.UTC(2026, 2, 4, 17);
const MINUTE = 60_000;
const DELAYS = [0, 10 * MINUTE, 60 * MINUTE];

onEachEngine('dates of symbols', (engine) => {
  const clock = { time: NOON, now: () => clock.time };
  let ledger: Ledger;

  beforeAll(async () => {
    ledger = await Ledger.open(await readyLedgerUrl(engine), clock);
  });
  afterAll(() => ledger.close());

  test('are known for all symbols and views without loading prices, and follow the ledger', async () => {
    const board = await Board.open({ ledger, clock, historyBytesMax: 1e9, simulated: true }, DELAYS);
    const all = board.catalog.symbols.map(({ code }) => board.catalog.find(code)!);
    const today = utcDay(NOON);
    const bars = all.slice(0, 60).flatMap(({ symbol }, i) =>
      [4_000, 100 + i, 3, 2].map((ago) => {
        return { symbolId: symbol.id, day: today - ago, open: 1, high: 1, low: 1, close: 1 };
      }),
    );
    await ledger.bars.publish(bars, { source: 'feed', recordedAt: NOON });
    const tick = (i: number, at: number) => {
      const symbolId = all[i]!.symbol.id;
      return { symbolId, id: `${i} ${at}`, at, received: at, price: 1 };
    };
    await ledger.ticks.append(
      Array.from({ length: 40 }, (_, i) => tick(i, NOON - i * 2 * MINUTE)),
      'push',
    );
    await board.follow(await ledger.head());
    const check = async () => {
      await board.ready(all, 'dates', clock.time);
      expect(new Set(all.slice(0, 60).map(({ loaded }) => loaded))).toEqual(new Set(['nothing']));
      const fresh = await Board.open({ ledger, clock, historyBytesMax: 1e9, simulated: true }, DELAYS);
      const loaded = all.map(({ symbol }) => fresh.catalog.find(symbol.code)!);
      await fresh.ready(loaded, 'recent', clock.time);
      for (const delay of DELAYS) {
        const dates = (from: Board, series: typeof all) =>
          series.map((one) => [from.view(delay).firstDay(one), from.view(delay).lastDay(one)]);
        expect(dates(board, all)).toEqual(dates(fresh, loaded));
      }
    };
    await check();
    clock.time += 30 * MINUTE;
    await check();
    await ledger.ticks.append([tick(0, clock.time), tick(50, clock.time)], 'push');
    await board.follow(await ledger.head());
    await check();
  });

  test('of hidden simulated prices are unknown, whether prices are loaded or not', async () => {
    const hidden = await Ledger.open(await readyLedgerUrl(engine), clock);
    await hidden.setMeta('demo', 'on');
    const [symbol] = await hidden.symbols.list();
    const bar = (source: string, day: number) =>
      hidden.bars.publish([{ symbolId: symbol!.id, day, ...flat(1) }], { source, recordedAt: NOON });
    await bar(SIMULATED, 19_000);
    const board = await Board.open({ ledger: hidden, clock, historyBytesMax: 1e9, simulated: false }, DELAYS);
    const series = board.catalog.find(symbol!.code)!;
    for (const level of ['dates', 'recent'] as const) {
      await board.ready([series], level, clock.time);
      expect([board.view(0).firstDay(series), board.view(0).lastDay(series)]).toEqual([undefined, undefined]);
    }
    series.reset();
    await board.ready([series], 'dates', clock.time);
    await bar('feed', 19_500);
    await board.follow(await hidden.head());
    await board.ready([series], 'dates', clock.time);
    expect([board.view(0).firstDay(series), board.view(0).lastDay(series)]).toEqual([19_500, 19_500]);
    await hidden.close();
  });
});
