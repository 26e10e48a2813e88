import { afterAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readyLedgerUrl } from '../../../test/support/database/ready-ledger.ts';
import { type EngineName, onEachEngine } from '../../../test/support/ledger.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { SIMULATED } from '../../ledger/symbols/sources.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { type Day, dayOf, MS_PER_DAY } from '../../market/day.ts';
import { marketOf, sessionEnd, sessionStart } from '../../market/session.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { Closer } from '../close/closer.ts';
import { FIRST_SIMULATED_DAY, tradingDays } from './calendar.ts';
import { HistoryFiller } from './history.ts';
import { CORRECTION, firstEdition } from './revised.ts';
import { lastClosedDay, lastPublishedDay } from './schedule.ts';
import { Simulator } from './simulator.ts';
import { Stream } from './stream.ts';
import { barsOf, walkOf } from './walk.ts';

/** A Wednesday on which the markets of New York, Chicago and London are open. */
const NOON = Date.UTC(2026, 10, 11, 15);
const WEDNESDAY = dayOf(2026, 11, 11)!;
const silent = () => {};

const opened: Ledger[] = [];
afterAll(async () => {
  for (const ledger of opened) await ledger.close();
});

async function newLedger(engine: EngineName): Promise<Ledger> {
  const ledger = await Ledger.open(await readyLedgerUrl(engine), { now: () => NOON });
  opened.push(ledger);
  return ledger;
}

/** Gold ticks every minute from the evening on; the other, a spot price, every ten minutes of its day. */
async function twoSymbols(ledger: Ledger): Promise<LedgerSymbol[]> {
  const symbols = await ledger.symbols.list();
  const slow = symbols.find((symbol) => symbol.updateInterval === 'day' && symbol.market === 'SPOT');
  return [symbols.find((symbol) => symbol.code === 'XAU')!, slow!];
}

const revisionsIn = (ledger: Ledger, symbol: LedgerSymbol) =>
  ledger.bars.revisions(symbol.id, 'simulated', 0, WEDNESDAY + 100);

/** The current bars. */
const barsIn = async (ledger: Ledger, symbol: LedgerSymbol) => {
  const current = new Map((await revisionsIn(ledger, symbol)).map((bar) => [bar.day, bar]));
  return [...current.values()].map(({ day, open, high, low, close }) => ({ day, open, high, low, close }));
};

/** What the ledger has of a symbol: the last bar may still be wrong. */
function publishedBars(symbol: LedgerSymbol, last: Day) {
  const walk = walkOf(symbol);
  const bars = barsOf(walk, FIRST_SIMULATED_DAY, last);
  return bars.map((bar, i) => (i === bars.length - 1 ? (firstEdition(walk, bar) ?? bar) : bar));
}

const ticksIn = async (ledger: Ledger, symbol: LedgerSymbol, day = WEDNESDAY) =>
  (await ledger.ticks.ofDay(symbol.id, 'simulated', day)).sort((a, b) => a.at - b.at);

test('an empty ledger gets more than ten years for every symbol, up to its last closed session', async () => {
  const ledger = await newLedger('sqlite');
  const progress: [number, number][] = [];
  await new Simulator(ledger).fillHistory(NOON, (done, total) => progress.push([done, total]));
  const symbols = await ledger.symbols.list();
  expect(symbols.length).toBeGreaterThanOrEqual(198);
  for (const symbol of symbols) {
    const span = await ledger.bars.recent.span(symbol.id, 'simulated');
    const closed = lastClosedDay(marketOf(symbol.market), NOON);
    expect(span!.lastDay).toBe(lastPublishedDay(symbol, closed));
    expect(closed - span!.lastDay).toBeLessThan(symbol.updateInterval === 'month' ? 63 : 7);
    expect(span!.lastDay - span!.firstDay).toBeGreaterThan(10 * 366);
  }
  const total = symbols.length + (await ledger.symbols.currencies()).length;
  expect(progress.at(-1)).toEqual([total, total]);
  const { prices } = await ledger.head();
  await new Simulator(ledger).fillHistory(NOON);
  expect((await ledger.head()).prices).toBe(prices); // a second start writes nothing
});

onEachEngine('the demo of an older version', (engine) => {
  test('is replaced, and real prices stay', async () => {
    const ledger = await newLedger(engine);
    const [gold, slow] = await twoSymbols(ledger);
    const old = (symbolId: number) => ({ symbolId, day: 17_000, open: 7, high: 7, low: 7, close: 7 });
    await ledger.bars.publish([old(gold!.id), old(slow!.id)], { source: 'simulated', recordedAt: NOON });
    await ledger.bars.publish([old(slow!.id)], { source: 'desk', recordedAt: NOON });
    const { epoch } = await ledger.head();
    const symbols = await ledger.symbols.list();
    for (const { id } of symbols.filter(({ code }) => code !== gold!.code && code !== slow!.code))
      await ledger.symbols.delete(id); // a short history
    await new Simulator(ledger).fillHistory(NOON);
    expect((await ledger.head()).epoch).not.toBe(epoch);
    expect((await barsIn(ledger, gold!)).find(({ close }) => close === 7)).toBeUndefined();
    expect(await barsIn(ledger, gold!)).toEqual(
      publishedBars(gold!, lastClosedDay(marketOf(gold!.market), NOON)),
    );
    expect((await ledger.bars.revisions(slow!.id, 'all', 0, WEDNESDAY)).map((bar) => bar.close)).toEqual([7]);
    const { epoch: kept, prices } = await ledger.head();
    await new Simulator(ledger).fillHistory(NOON);
    expect(await ledger.head()).toMatchObject({ epoch: kept, prices });
  });
});

onEachEngine('simulator', (engine) => {
  test('however often it restarts, closed days have the bars of the random walk', async () => {
    const steps = fc.array(
      fc.record({
        advanceMs: fc.oneof(fc.integer({ min: 1000, max: 9 * MINUTE_MS }), fc.nat(2 * MS_PER_DAY)),
        restart: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (drawnSteps) => {
        const ledger = await newLedger(engine);
        const symbols = await twoSymbols(ledger);
        let parts = newParts(ledger);
        let now = NOON - 3 * MS_PER_DAY;
        for (const { advanceMs, restart } of [{ advanceMs: 0, restart: false }, ...drawnSteps]) {
          now += advanceMs;
          if (restart) parts = newParts(ledger);
          await parts.history.fill(symbols, now, silent);
          await parts.stream.tick(symbols, now);
          await parts.closer.close(now);
        }
        for (const symbol of symbols) {
          const last = lastClosedDay(marketOf(symbol.market), now);
          expect(await barsIn(ledger, symbol)).toEqual(publishedBars(symbol, last));
        }
      }),
      { numRuns: engine === 'sqlite' ? 15 : 4 },
    );
  });

  test('a few prices are corrected with the next one, and each is recorded after its day', async () => {
    const ledger = await newLedger(engine);
    const symbols = await twoSymbols(ledger);
    await new HistoryFiller(ledger).fill(symbols, NOON, silent);
    for (const symbol of symbols) {
      const revisions = await revisionsIn(ledger, symbol);
      const corrections = revisions.filter(({ reason }) => reason === CORRECTION);
      expect(corrections.length).toBeGreaterThan(2);
      expect(corrections.length).toBeLessThan(revisions.length / 100);
      const days = tradingDays(FIRST_SIMULATED_DAY, WEDNESDAY);
      for (const { day, close, recordedAt } of corrections) {
        const first = revisions.find((one) => one.day === day)!;
        expect(Math.abs(first.close / close - 1)).toBeLessThan(0.011);
        expect(first.recordedAt).toBeGreaterThan((day + 1) * MS_PER_DAY - 1);
        expect(recordedAt).toBeGreaterThan(days[days.indexOf(day) + 1]! * MS_PER_DAY);
        expect(recordedAt).toBeLessThanOrEqual(NOON);
      }
    }
  });

  test('a start during a session generates its ticks so far, ten minutes apart', async () => {
    const ledger = await newLedger(engine);
    const [gold] = await twoSymbols(ledger);
    await new Stream(ledger).tick([gold!], NOON);
    const ticks = await ticksIn(ledger, gold!);
    const start = sessionStart(marketOf(gold!.market), WEDNESDAY);
    expect(ticks.length).toBeGreaterThanOrEqual(Math.floor((NOON - start) / (10 * MINUTE_MS)));
    expect(ticks[0]!.at - start).toBeLessThan(MINUTE_MS);
    expect(NOON - ticks.at(-1)!.at).toBeLessThan(MINUTE_MS);
    for (const tick of ticks) expect(tick.received).toBe(tick.at);
  });

  test('a symbol ticks at its own interval, and a restart neither repeats nor loses a tick', async () => {
    const ledger = await newLedger(engine);
    const symbols = await twoSymbols(ledger);
    const [gold, slow] = symbols;
    let stream = new Stream(ledger);
    for (let now = NOON; now <= NOON + 60 * MINUTE_MS; now += 7_000) {
      if (now % 11 === 0) stream = new Stream(ledger);
      await stream.tick(symbols, now);
    }
    const live = (await ticksIn(ledger, gold!)).filter((tick) => tick.at > NOON);
    expect(live.map((tick) => tick.at)).toEqual(live.map((_, i) => live[0]!.at + i * MINUTE_MS));
    expect(live).toHaveLength(60);
    expect((await ticksIn(ledger, slow!)).filter((tick) => tick.at > NOON)).toHaveLength(6);
  });

  test('a restart writes only the ticks since the last one, in both sessions', async () => {
    const ledger = await newLedger(engine);
    const symbols = await twoSymbols(ledger);
    const before = new Stream(ledger);
    await before.tick(symbols, NOON);
    expect(await before.fillLastSession(symbols, NOON)).toBeGreaterThan(100);
    const after = new Stream(ledger);
    expect(await after.tick(symbols, NOON + 2 * MINUTE_MS)).toBeLessThanOrEqual(2);
    expect(await after.fillLastSession(symbols, NOON + 2 * MINUTE_MS)).toBe(0);
    expect(NOON + 2 * MINUTE_MS - (await ticksIn(ledger, symbols[0]!)).at(-1)!.at).toBeLessThan(MINUTE_MS);
  });

  test('a start completes a session that was being written when the process was killed', async () => {
    const [whole, half] = [await newLedger(engine), await newLedger(engine)];
    const symbols = await twoSymbols(whole);
    await new Stream(whole).tick(symbols, NOON);
    const written = await ticksIn(whole, symbols[0]!);
    await half.ticks.append(written.slice(0, 30), SIMULATED);
    await new Stream(half).tick(symbols, NOON);
    for (const symbol of symbols) {
      const at = (ticks: { at: number }[]) => ticks.map((tick) => tick.at);
      expect(at(await ticksIn(half, symbol))).toEqual(at(await ticksIn(whole, symbol)));
    }
  });

  test('nothing ticks outside of a session', async () => {
    const ledger = await newLedger(engine);
    const symbols = await twoSymbols(ledger);
    const stream = new Stream(ledger);
    const saturday = NOON + 3 * MS_PER_DAY;
    expect(await stream.tick(symbols, saturday)).toBe(0);
    expect(await stream.tick(symbols, saturday + 5 * MINUTE_MS)).toBe(0);
    const christmas = Date.UTC(2026, 11, 25, 12);
    expect(await new Stream(ledger).tick(symbols, christmas)).toBe(0);
  });

  test('the last tick of a session is written by the first run after its end', async () => {
    const ledger = await newLedger(engine);
    const [gold] = await twoSymbols(ledger);
    const end = sessionEnd(marketOf(gold!.market), WEDNESDAY);
    const stream = new Stream(ledger);
    await stream.tick([gold!], end - 5 * MINUTE_MS);
    await stream.tick([gold!], end + 1000);
    const [bar] = barsOf(walkOf(gold!), WEDNESDAY, WEDNESDAY);
    expect((await ticksIn(ledger, gold!)).at(-1)!.price).toBe(bar!.close);
  });

  test('the first real price stops a symbol’s simulated history and stream, even during a run', async () => {
    const ledger = await newLedger(engine);
    const stale = await twoSymbols(ledger);
    const [gold, slow] = stale;
    const { history, stream } = newParts(ledger);
    await history.fill(stale, NOON, silent);
    await stream.tick(stale, NOON);
    const bars = await barsIn(ledger, gold!);
    const ticks = await ticksIn(ledger, gold!);
    await ledger.ticks.append(
      [{ symbolId: gold!.id, id: '1', at: NOON, received: NOON, price: 4000 }],
      'push',
    );

    for (const symbols of [stale, await twoSymbols(ledger)]) {
      const now = symbols === stale ? NOON + 9 * MINUTE_MS : NOON + 18 * MINUTE_MS;
      await stream.tick(symbols, now);
      await history.fill(symbols, NOON + MS_PER_DAY, silent);
    }
    expect(await barsIn(ledger, gold!)).toEqual(bars);
    expect(await ticksIn(ledger, gold!)).toEqual(ticks);
    expect((await ticksIn(ledger, slow!)).at(-1)!.at).toBeGreaterThan(NOON);
  });

  test('a symbol that an operator adds gets its history with the next fill', async () => {
    const ledger = await newLedger(engine);
    const [gold] = await twoSymbols(ledger);
    const history = new HistoryFiller(ledger);
    await history.fill([gold!], NOON, silent);
    await ledger.symbols.upsert([{ ...gold!, code: 'HOUSE-BLEND', name: 'House blend' }], []);
    const added = (await ledger.symbols.list()).find((symbol) => symbol.code === 'HOUSE-BLEND')!;
    await history.fill([gold!, added], NOON, silent);
    expect((await barsIn(ledger, added)).map((bar) => bar.day)).toEqual(
      tradingDays(FIRST_SIMULATED_DAY, WEDNESDAY - 1),
    );
  });

  test('a stopped fill is resumed where it stopped', async () => {
    const ledger = await newLedger(engine);
    const symbols = await twoSymbols(ledger);
    await new HistoryFiller(ledger).fill(symbols, NOON, silent, AbortSignal.abort());
    const [gold] = symbols;
    const written = new Set((await revisionsIn(ledger, gold!)).map(({ day }) => day));
    expect(written.size).toBe(2_000);
    await new HistoryFiller(ledger).fill(symbols, NOON, silent);
    for (const symbol of symbols) {
      const last = lastClosedDay(marketOf(symbol.market), NOON);
      expect(await barsIn(ledger, symbol)).toEqual(publishedBars(symbol, last));
    }
  });
});

function newParts(ledger: Ledger) {
  return { history: new HistoryFiller(ledger), stream: new Stream(ledger), closer: new Closer(ledger) };
}
