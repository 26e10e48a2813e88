import { MS_PER_DAY } from '../../market/day.ts';
import { lastDayEnded, marketOf, sessionEnd } from '../../market/session.ts';
import { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { SIMULATED_ID } from '../symbols/sources.ts';
import { SymbolStore } from '../symbols/symbol-store.ts';
import { TickDays } from '../ticks/tick-days.ts';
import { newestWrite } from './newest-write.ts';

/** NTP keeps a clock right to a second; a day also tolerates a wrong time zone. */
const TOLERANCE_MS = MS_PER_DAY;
/** Ticks are kept at least this long. A clock further ahead would delete them. */
const TICKS_KEPT_MS = 7 * MS_PER_DAY;

/** The clock is most likely wrong, and would corrupt the ledger. */
export class ClockRefused extends Error {}

/**
 * Refuses a clock that would close sessions early, delete ticks that are still needed, or date prices before existing ones.
 * The database's clock is the reference, if it has one (PostgreSQL). Otherwise it is the newest write; the ledger may have been
 * unused since, so a clock that is ahead is refused only if data would be lost.
 */
export async function requirePlausibleClock(engine: Engine, now: number): Promise<void> {
  if (!(await hasRealPrices(engine))) return;
  const { read } = engine;
  if (engine.hasOwnClock) {
    const theirs = await engine.now(read);
    if (Math.abs(now - theirs) > TOLERANCE_MS) throw refusal(now, 'the database’s clock says', theirs);
    return;
  }
  const newest = await newestWrite(read);
  if (newest === undefined || Math.abs(now - newest) <= TOLERANCE_MS) return;
  if (now > newest && !(await hasTicksAtRisk(engine, newest, now))) return;
  throw refusal(now, 'the newest write to the ledger is of', newest);
}

function refusal(now: number, witness: string, theirs: number): ClockRefused {
  const [ours, other] = [now, theirs].map((ms) => new Date(ms).toISOString());
  return new ClockRefused(
    `This machine's clock says ${ours}, but ${witness} ${other}. With a wrong clock, open sessions would be closed and ticks deleted. ` +
      'Set the clock. If it is right, start once with --accept-clock.',
  );
}

async function hasRealPrices({ read }: Engine): Promise<boolean> {
  return (await read`SELECT 1 FROM symbol WHERE real_revision IS NOT NULL LIMIT 1`).length > 0;
}

/** Whether real ticks belong to a session that had not ended at the newest write, or would be deleted too early. */
async function hasTicksAtRisk(engine: Engine, newest: number, now: number): Promise<boolean> {
  const symbols = new Map(
    (await new SymbolStore(engine, new AuditLog(engine)).list()).map((symbol) => [symbol.id, symbol]),
  );
  const from = now - newest > TICKS_KEPT_MS ? undefined : lastDayEnded(newest);
  for await (const days of new TickDays(engine).list(from)) {
    for (const { symbolId, day } of days) {
      const symbol = symbols.get(symbolId);
      if (!symbol?.real || !(await hasRealTicks(engine, symbolId))) continue;
      if (from === undefined || sessionEnd(marketOf(symbol.market), day) > newest) return true;
    }
  }
  return false;
}

async function hasRealTicks({ read }: Engine, symbolId: number): Promise<boolean> {
  const rows =
    await read`SELECT 1 FROM tick WHERE symbol_id = ${symbolId} AND source_id <> ${SIMULATED_ID} LIMIT 1`;
  return rows.length > 0;
}
