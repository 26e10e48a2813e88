import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readyLedgerUrl } from '../../../test/support/database/ready-ledger.ts';
import { shownByReference } from '../../../test/support/exact/visible-prices.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { Seeded } from '../../../test/support/seeded.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { NewTick } from '../../ledger/ticks/tick.ts';
import { FIRST_DAY, LAST_DAY } from '../../market/day.ts';
import { Board } from '../board.ts';

const NOON = Date.UTC(2026, 2, 4, 17);
const MINUTE = 60_000;
const DELAYS = [0, MINUTE, 10 * MINUTE, 60 * MINUTE];
/** More than two pages of ticks. */
const TICKS = 9_000;

onEachEngine('a board that loads an open day', (engine) => {
  const clock = { time: NOON, now: () => clock.time };
  let ledger: Ledger;

  beforeAll(async () => {
    ledger = await Ledger.open(await readyLedgerUrl(engine), clock);
  });
  afterAll(() => ledger.close());

  test('shows in every view what the contract says, whatever the order of its ticks', async () => {
    const { id: symbolId } = (await ledger.symbols.list()).find(({ code }) => code === 'XAU')!;
    await ledger.ticks.append(madeTicks(symbolId), 'feed');
    const board = await Board.open({ ledger, clock, historyBytesMax: 1e9, simulated: true }, DELAYS);
    const gold = board.catalog.find('XAU')!;
    for (const minutes of [0, 1, 9, 31, 59, 60, 200]) {
      clock.time = NOON + minutes * MINUTE;
      await board.ready([gold], 'all', clock.time);
      for (const delay of DELAYS) {
        const expected = await shownByReference(ledger, gold.symbol, clock.time - delay);
        const view = board.view(delay);
        expect(view.latest(gold)).toEqual(expected.latest);
        expect(view.bars(gold, FIRST_DAY, LAST_DAY)).toEqual(expected.bars);
      }
    }
  });
});

/** Ticks with hashed ids: many at the same time, some received late, some with timestamps in the future. */
function madeTicks(symbolId: number): NewTick[] {
  const chance = new Seeded(14);
  return Array.from({ length: TICKS }, (_, i) => {
    const at = NOON - chance.below(4 * 60) * MINUTE - chance.below(3);
    const lateMs = chance.next() < 0.2 ? chance.below(90) * MINUTE : 40;
    const received = chance.next() < 0.05 ? at - 2 * MINUTE : Math.min(at + lateMs, NOON);
    return { symbolId, id: Bun.hash(`${i}`).toString(36), at, received, price: 100 + chance.below(400) / 4 };
  });
}
