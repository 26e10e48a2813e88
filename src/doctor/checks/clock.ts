import type { Ledger } from '../../ledger/ledger.ts';
import { ClockRefused, requirePlausibleClock } from '../../ledger/operations/clock-check.ts';
import { newestWrite } from '../../ledger/operations/newest-write.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** NTP keeps a clock right to a fraction of a second; an error of seconds affects quotas and delays. */
const TOLERANCE_MS = 2_000;

const FIX = 'set the clock, and synchronize it with NTP: timedatectl set-ntp true';

/** Compares this machine's clock with the database's, or with the newest write to a SQLite ledger. */
export async function checkClock(ledger: Ledger, clock: Clock): Promise<Finding[]> {
  try {
    await requirePlausibleClock(ledger.engine, clock.now());
  } catch (error) {
    if (!(error instanceof ClockRefused)) throw error;
    return [problem('clock.plausible', error.message, FIX)];
  }
  return [
    ledger.engine.hasOwnClock ? await againstDatabase(ledger, clock) : await againstWrites(ledger, clock),
  ];
}

async function againstDatabase({ engine }: Ledger, clock: Clock): Promise<Finding> {
  await engine.now(engine.read); // connects and prepares the statement, so that the next call is fast
  const before = clock.now();
  const databaseNow = await engine.now(engine.read);
  const aheadMs = (before + clock.now()) / 2 - databaseNow;
  if (Math.abs(aheadMs) <= TOLERANCE_MS) return ok('clock.database', 'the clock agrees with the database’s');
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  const text = `this machine’s clock is ${inSeconds(aheadMs)} ${direction} the database’s`;
  return warning('clock.database', text, FIX);
}

async function againstWrites(ledger: Ledger, clock: Clock): Promise<Finding> {
  const newest = await newestWrite(ledger.engine.read);
  const behindMs = newest === undefined ? 0 : newest - clock.now();
  if (behindMs <= TOLERANCE_MS) return ok('clock.writes', 'no write to the ledger is from the future');
  const text = `the newest write to the ledger is ${inSeconds(behindMs)} in the future of this machine’s clock`;
  return warning('clock.writes', text, FIX);
}

function inSeconds(ms: number): string {
  return `${(Math.abs(ms) / 1_000).toFixed(1)} s`;
}
