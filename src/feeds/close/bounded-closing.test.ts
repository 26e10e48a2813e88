import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readyLedgerUrl } from '../../../test/support/database/ready-ledger.ts';
import { accessTo, statementsOf } from '../../../test/support/database/statements.ts';
import { onEachEngine } from '../../../test/support/ledger.ts';
import { Board } from '../../board/board.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { NewTick } from '../../ledger/ticks/tick.ts';
import { dayOf, MS_PER_DAY } from '../../market/day.ts';
import { marketOf, sessionEnd, sessionStart, tradeDate } from '../../market/session.ts';
import { Closer } from './closer.ts';
import { Pruner } from './pruner.ts';

/** Monday. There are ticks of ten trade dates before it. */
const TODAY = dayOf(2026, 3, 16)!;
const TICKS_PER_DAY = 800;
/** A tenth of the ticks: a page may be read a few times. */
const ROWS_MAX = 6_000;

onEachEngine('a ledger with many ticks', (engine) => {
  let ledger: Ledger;
  let now = 0;

  beforeAll(async () => {
    const clock = { now: () => now };
    ledger = await Ledger.open(await readyLedgerUrl(engine), clock);
    const symbols = (await ledger.symbols.list()).filter(({ market }) => market === 'COMEX');
    now = sessionStart(marketOf('COMEX'), TODAY) + 2 * 3_600_000;
    for (const { id, market } of symbols) await ledger.ticks.append(ticksOf(id, market), 'push');
    await ledger.engine.write((tx) => tx.unsafe('ANALYZE'));
  });
  afterAll(() => ledger.close());

  test('is closed, pruned and loaded without a full scan of the ticks', async () => {
    const seen = await statementsOf(ledger, async () => {
      const closer = new Closer(ledger);
      expect(await closer.close(now)).toBeGreaterThan(50);
      await ledger.ticks.append(ticksOf(1, 'COMEX').slice(-1), 'late');
      await closer.close(now); // follows by revision
      await new Closer(ledger).close(now); // a restart
      expect((await new Pruner(ledger).prune(now)).length).toBeGreaterThan(5);
      const board = await Board.open(
        { ledger, clock: { now: () => now }, historyBytesMax: 1e9, simulated: true },
        [0],
      );
      await board.ready([board.catalog.find('XAU')!], 'all', now);
    });
    const isOneRow = /ORDER BY revision DESC LIMIT 1$/; // the first entry of the index
    const ofTicks = seen.filter(({ text }) => /\b(FROM|JOIN) tick\b/.test(text) && !isOneRow.test(text));
    expect(ofTicks.length).toBeGreaterThan(8);
    for (const statement of ofTicks) {
      const { scans, rows } = await accessTo(ledger, 'tick', statement);
      expect({ text: statement.text, scans }).toEqual({ text: statement.text, scans: [] });
      if (rows > ROWS_MAX) expect(`${rows} rows: ${statement.text}`).toBe(`at most ${ROWS_MAX}`);
    }
  });
});

function ticksOf(symbolId: number, marketKey: string): NewTick[] {
  const market = marketOf(marketKey);
  const ticks: NewTick[] = [];
  for (let day = TODAY - 14; day <= TODAY; day++) {
    const [start, end] = [sessionStart(market, day), sessionEnd(market, day)];
    if (tradeDate(market, start) !== day || end - start > MS_PER_DAY) continue;
    for (let i = 0; i < TICKS_PER_DAY; i++) {
      const at = start + ((i * 7919) % 7_000) * 1_000;
      ticks.push({
        symbolId,
        id: Bun.hash(`${day} ${i}`).toString(36),
        at,
        received: at,
        price: 100 + (i % 50),
      });
    }
  }
  return ticks;
}
