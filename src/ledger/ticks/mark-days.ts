import { shouldYield, yieldToRequests } from '../../runtime/yield.ts';
import type { Engine } from '../engine/engine.ts';
import { lockRevisions } from '../engine/revisions.ts';
import { asNumber, onlyRow, type Sql } from '../engine/rows.ts';
import { insertRows } from '../engine/statements.ts';
import { type DayMinutes, minutesToStore, storeMinutes } from '../intraday/hour-bars.ts';
import { type PriceOrigin, symbolDayKey, symbolsWithRealPrices, type TradingDay } from '../symbols/origin.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import { DayPages } from './day-pages.ts';
import { FIRST_MOMENT, LAST_MOMENT } from './page-statements.ts';

/** A day whose ticks are being deleted: those made before `from` are gone, those received after `receivedBy` stay. */
export interface MarkedDay {
  of: TradingDay;
  from: number;
  receivedBy: number;
}

/**
 * Marks days for deletion, in the table `tick_pruning`, and stores their minutes in the same transaction. All ticks of a day
 * are checked and folded before it, so it only has to look at those that were stored meanwhile: pushes wait for three short
 * statements, however many days there are.
 */
export async function markDays(
  engine: Engine,
  days: readonly TradingDay[],
  receivedBy: number,
  signal?: AbortSignal,
): Promise<MarkedDay[]> {
  const head = onlyRow(await engine.read`SELECT value FROM counter WHERE name = 'prices'`);
  const known = await readMarked(engine.read);
  const dispensable = await findDispensable(engine, days);
  const interrupted: MarkedDay[] = [];
  const checked: (MarkedDay & DayMinutes)[] = [];
  for (const of of days) {
    if (known.has(keyOf(of))) interrupted.push({ of, from: FIRST_MOMENT, receivedBy });
    else if (dispensable.has(keyOf(of))) {
      const from = await firstMoment(engine, of, receivedBy, signal);
      if (from !== undefined) {
        checked.push({ of, from, receivedBy, minutes: await minutesToStore(engine, of) });
      }
    }
    if (signal?.aborted) return interrupted;
  }
  if (checked.length === 0) return interrupted;
  const marked = await engine.write(async (tx) => {
    await lockRevisions(tx, 'prices'); // no tick comes in between
    const changed = await daysSince(tx, asNumber(head.value));
    const unchanged = checked.filter(({ of }) => !changed.has(symbolDayKey(of)));
    const rows = unchanged.map(({ of }) => [of.symbolId, of.day, flagOf(of.origin)]);
    await insertRows(engine, tx, `tick_pruning (${COLUMNS})`, rows, 'ON CONFLICT DO NOTHING');
    await storeMinutes(engine, tx, unchanged);
    return unchanged;
  });
  return [...interrupted, ...marked];
}

const COLUMNS = 'symbol_id, day, simulated';

/** Whether the ticks of a day are being deleted. */
export async function isMarked(handle: Sql, of: TradingDay): Promise<boolean> {
  const { symbolId, day } = of;
  const rows = await handle`
    SELECT 1 FROM tick_pruning WHERE symbol_id = ${symbolId} AND day = ${day} AND simulated = ${flagOf(of.origin)}`;
  return rows.length > 0;
}

export async function unmark(tx: Sql, { symbolId, day, origin }: TradingDay): Promise<void> {
  await tx`DELETE FROM tick_pruning
    WHERE symbol_id = ${symbolId} AND day = ${day} AND simulated = ${flagOf(origin)}`;
}

/** How an origin is stored. */
function flagOf(origin: PriceOrigin): number {
  return origin === 'simulated' ? 1 : 0;
}

function keyOf({ symbolId, day, origin }: TradingDay): string {
  return `${symbolId} ${day} ${flagOf(origin)}`;
}

async function readMarked(handle: Sql): Promise<Set<string>> {
  const rows = await handle.unsafe(`SELECT ${COLUMNS} FROM tick_pruning`).values();
  return new Set(rows.map((row) => row.join(' ')));
}

/** The days that have a bar, or are simulated ones of a symbol that has real prices. A bar is never deleted. */
async function findDispensable(engine: Engine, days: readonly TradingDay[]): Promise<Set<string>> {
  const real = await symbolsWithRealPrices(engine.read);
  const rows = await engine.forRows(
    engine.read,
    { symbol_id: 'BIGINT', day: 'BIGINT', simulated: 'BIGINT' },
    days.map((of) => [of.symbolId, of.day, flagOf(of.origin)]),
    ({ cell, table }) => `SELECT ${cell('symbol_id')}, ${cell('day')}, ${cell('simulated')} FROM ${table}
      WHERE EXISTS (SELECT 1 FROM bar b WHERE b.symbol_id = ${cell('symbol_id')} AND b.day = ${cell('day')}
        AND (b.source_id = ${SIMULATED_ID}) = (${cell('simulated')} = 1))`,
  );
  const replaced = days.filter((of) => of.origin === 'simulated' && real.has(of.symbolId));
  return new Set([...rows.map((row) => row.join(' ')), ...replaced.map(keyOf)]);
}

/** The moment of a day's first tick; undefined when it has none, or one that was received after `receivedBy`. */
async function firstMoment(
  engine: Engine,
  of: TradingDay,
  receivedBy: number,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const pages = new DayPages(engine, of, { madeBy: LAST_MOMENT, receivedBy });
  let first: number | undefined;
  for (let after = FIRST_MOMENT; after < LAST_MOMENT; ) {
    if (shouldYield()) await yieldToRequests();
    if (signal?.aborted) return undefined;
    const page = await pages.next(after);
    if (page.hasOthers) return undefined;
    first ??= page.summary?.firstAt;
    after = page.upTo;
  }
  return first;
}

/** The days of the ticks that were stored after a recent revision. */
async function daysSince(tx: Sql, revision: number): Promise<Set<string>> {
  const rows =
    await tx`SELECT symbol_id, day FROM tick WHERE revision > ${revision} ORDER BY revision`.values();
  return new Set(rows.map((row) => row.join(' ')));
}
