import { expect, test } from 'bun:test';
import { newLedgerUrl } from '../../../test/support/ledger.ts';
import { eventually } from '../../../test/support/program.ts';
import { lockRevisions } from '../../ledger/engine/revisions.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { MS_PER_DAY } from '../../market/day.ts';
import { FeedLoop } from './loop.ts';
import type { FromWorker } from './protocol.ts';

const NOON = Date.UTC(2026, 10, 11, 15);

test('a stop does not wait for a statement in progress: closing a session that waits for a lock', async () => {
  const url = await newLedgerUrl('postgres');
  const clock = { now: () => NOON };
  const ledger = await Ledger.open(url, clock);
  const [symbol] = await ledger.symbols.list();
  const at = NOON - 3 * MS_PER_DAY;
  await ledger.ticks.append([{ symbolId: symbol!.id, id: '1', at, received: at, price: 4000 }], 'push');
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holding = ledger.engine.write(async (tx) => {
    await lockRevisions(tx, 'prices');
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const isWaiting = async () => {
    const rows = await ledger.engine.read`SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return rows.length > 0;
  };
  const posted: FromWorker[] = [];
  const loop = new FeedLoop({ ledgerUrl: url, clock, post: (message) => posted.push(message) });
  const ended = loop.run();
  await eventually(isWaiting);
  loop.stop();
  await ended;
  expect(await isWaiting()).toBe(true); // PostgreSQL has not ended the statement
  expect(posted.filter(({ kind }) => kind === 'failed')).toEqual([]);
  expect(posted.at(-1)).toEqual({ kind: 'stopped' });
  release.resolve();
  await holding;
  await ledger.close();
});
