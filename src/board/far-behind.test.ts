import { expect, test } from 'bun:test';
import { fixedClock, ledgersOf, NOW, tick } from '../../test/support/ledgers.ts';
import { nextRevision } from '../ledger/engine/revisions.ts';
import { utcDay } from '../market/day.ts';
import { Board, TICKS_FOLLOWED_MAX } from './board.ts';

// Storing a quarter of a million ticks takes PostgreSQL longer than the timeout.
const ledgers = ledgersOf('sqlite');

test('a board that is very far behind reloads its prices, instead of reading every tick since', async () => {
  const ledger = await ledgers.new();
  const [symbol, other] = await ledger.symbols.list();
  await ledger.ticks.append([tick(symbol!.id, 'first', NOW - 1_000)], 'push');
  const options = { ledger, clock: fixedClock, historyBytesMax: 1e9, simulated: false };
  const board = await Board.open(options, [0]);
  const series = board.catalog.find(symbol!.code)!;
  await board.ready([series], 'recent', NOW);

  await ledger.ticks.append([tick(symbol!.id, 'last', NOW)], 'push');
  await ledger.engine.write(async (tx) => {
    const revision = await nextRevision(tx, 'prices');
    await tx.unsafe(`INSERT INTO tick (symbol_id, source_id, tick_id, day, at, received, price, revision)
      WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${TICKS_FOLLOWED_MAX})
      SELECT ${other!.id}, 2, CAST(n AS TEXT), ${utcDay(NOW)}, ${NOW}, ${NOW}, 1, ${revision} FROM number`);
  });
  await board.follow(await ledger.head());
  expect(board.revision).toBe((await ledger.head()).prices);
  expect(series.loaded).toBe('nothing');
  await board.ready([series], 'latest', NOW);
  expect(board.view(0).latest(series)?.at).toBe(NOW);
}, 60_000);
