import { Ledger } from '../../src/ledger/ledger.ts';
import { utcDay } from '../../src/market/day.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { BenchLedger } from './bench-ledger.ts';

/** When all of the history was recorded. */
export const RECORDED = '2026-01-01';

const SOURCE = 77;
const REVISION = 1_000;
const WORKDAYS = 5;

/** Fills a ledger with a bar for every workday of the last `days` days, for so many symbols and the dollar's exchange rate. Returns the codes. */
export async function fillCentury(bench: BenchLedger, symbolCount: number, days: number): Promise<string[]> {
  const { sql, numbers } = bench;
  const ledger = await Ledger.open(bench.url, systemClock);
  await ledger.symbols.addCurrencies(['USD']);
  await ledger.close();
  const recordedAt = Date.parse(`${RECORDED}T00:00:00Z`);
  const last = utcDay(systemClock.now()) - 1;
  const found: { id: number; code: string; currency_code: string }[] = await sql.unsafe(
    `SELECT id, code, currency_code FROM symbol ORDER BY id`,
  );
  const rate = found.find(({ code }) => code === 'EUR/USD')!;
  const symbols = found.filter((one) => one.currency_code === 'USD' && one !== rate).slice(0, symbolCount);
  if (symbols.length < symbolCount) throw new Error(`only ${symbols.length} symbols are quoted in dollars`);
  await sql.unsafe(`INSERT INTO source (id, name) VALUES (${SOURCE}, 'bench')`);
  for (const { id, code } of [...symbols, rate]) {
    const base = code === rate.code ? '1 + (i % 50) / 400.0' : `100 + (i % 50) / 4.0 + ${Number(id) % 9}`;
    await sql.unsafe(`INSERT INTO bar (symbol_id, day, revision, open, high, low, close, source_id, recorded_at, reason)
      SELECT ${id}, ${last} - i, ${REVISION}, ${base}, ${base} + 1, ${base} - 0.5, ${base} + 0.25, ${SOURCE}, ${recordedAt}, NULL
      FROM ${numbers(days)} WHERE (${last} - i + 40000) % 7 < ${WORKDAYS}`);
    await sql.unsafe(`INSERT INTO bar_change (revision, symbol_id, first_day, last_day, recorded_at)
      VALUES (${REVISION}, ${id}, ${last - days}, ${last}, ${recordedAt})`);
  }
  await sql.unsafe(`UPDATE symbol SET real_revision = ${REVISION}, revision = ${REVISION}`);
  await sql.unsafe(`UPDATE counter SET value = ${REVISION} WHERE name = 'prices'`);
  if (bench.engine === 'PostgreSQL') await sql.unsafe('ANALYZE');
  return symbols.map(({ code }) => code);
}
