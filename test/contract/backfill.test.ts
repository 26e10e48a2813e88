import { expect, test } from 'bun:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { NewTick } from '../../src/ledger/ticks/tick.ts';
import { statementsOf } from '../support/database/statements.ts';
import { onEachEngine } from '../support/ledger.ts';
import { ledgersOf, NOW, newSymbol } from '../support/ledgers.ts';
import { Seeded } from '../support/seeded.ts';

const DAY_MS = 86_400_000;
const SYMBOLS = 12;
const DAYS = 10;

onEachEngine('a backfill of ticks', (engine) => {
  const ledgers = ledgersOf(engine);

  /** Symbols with a tick now. */
  async function start() {
    const ledger = await ledgers.shared();
    const ids: number[] = [];
    while (ids.length < SYMBOLS) ids.push((await newSymbol(ledger)).id);
    await ledger.quarantine.admit(
      ids.map((id) => tick(id, NOW)),
      'desk',
    );
    const history = ids.flatMap((id) =>
      Array.from({ length: DAYS }, (_, i) => tick(id, NOW - (DAYS - i) * DAY_MS)),
    );
    return { ledger, ids, history };
  }
  const tick = (symbolId: number, at: number): NewTick => {
    return { symbolId, id: `${symbolId} ${at}`, at, received: NOW, price: 100 + (at % 7) / 10 };
  };
  const uses = async (ledger: Ledger, ticks: readonly NewTick[]) => {
    let accepted = 0;
    const statements = await statementsOf(ledger, async () => {
      const outcomes = await ledger.quarantine.admit(ticks, 'desk');
      accepted = outcomes.filter(({ status }) => status === 'accepted').length;
    });
    expect(accepted).toBe(ticks.length);
    return statements.reduce((sum, { uses }) => sum + uses, 0);
  };

  test('takes as many statements for all symbols as for one, in any order', async () => {
    const { ledger, ids, history } = await start();
    await ledger.quarantine.admit(
      ids.map((id) => tick(id, NOW - 20 * DAY_MS)),
      'desk',
    );
    const chance = new Seeded(3);
    const [some, rest] = [history.filter((_, i) => i % 2 === 0), history.filter((_, i) => i % 2 === 1)];
    const shuffled = [some, rest].map((ticks) => ticks.toSorted(() => chance.next() - 0.5));
    const between = await uses(ledger, shuffled[0]!);
    const amongKnown = await uses(ledger, shuffled[1]!);
    expect(between).toBeLessThan(SYMBOLS);
    expect(amongKnown).toBeLessThan(SYMBOLS);
  });

  test('is taken whole when it comes newest first', async () => {
    const { ledger, ids, history } = await start();
    for (const some of Map.groupBy(history.toReversed(), ({ at }) => at).values()) {
      const outcomes = await ledger.quarantine.admit(some, 'desk');
      expect(outcomes).toEqual(Array(SYMBOLS).fill({ status: 'accepted' }));
    }
    const since = (await ledger.ticks.since(0, (await ledger.head()).prices)).map(({ symbolId }) => symbolId);
    expect(since.filter((id) => ids.includes(id))).toHaveLength(SYMBOLS * (DAYS + 1));
  });
});
