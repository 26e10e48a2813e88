import { Database } from 'bun:sqlite';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ledger } from '../../src/ledger/ledger.ts';
import { utcDay } from '../../src/market/day.ts';
import { systemClock } from '../../src/runtime/clock.ts';

/** The benches ask for these. */
const ASKED = ['XAU', 'XAG', 'PL', 'PA', 'HG-SPOT'];

/** A folder whose ledger has this many symbols with this many days each, up to yesterday. */
export async function filledLedger(symbolCount: number, daysPerSymbol: number): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'openpit-bench-ledger-'));
  const file = join(dir, 'openpit.db');
  const ledger = await Ledger.open(file, systemClock);
  const model = (await ledger.symbols.list())[0]!;
  const known = await ledger.symbols.list();
  const more = Array.from({ length: Math.max(0, symbolCount - known.length) }, (_, i) => ({
    ...model,
    code: `BENCH-${i}`,
    name: `Bench ${i}`,
  }));
  await ledger.symbols.upsert(more, []);
  const isAsked = ({ code }: { code: string }) => ASKED.includes(code);
  const all = (await ledger.symbols.list()).sort((a, b) => Number(isAsked(b)) - Number(isAsked(a)));
  const ids = all.slice(0, symbolCount).map(({ id }) => id);
  const lastDay = utcDay(Date.now()) - 1;
  const newest = ids.map((symbolId) => ({
    symbolId,
    day: lastDay,
    open: 100,
    high: 101,
    low: 99,
    close: 100.25,
  }));
  await ledger.bars.publish(newest, { source: 'bench', recordedAt: 0 });
  await ledger.close();
  addHistory(file, ids, lastDay, daysPerSymbol);
  return dir;
}

/** The days before, copied from the last one by the database itself: publishing 20 million bars takes minutes. */
function addHistory(file: string, ids: readonly number[], lastDay: number, days: number): void {
  const db = new Database(file);
  db.run('PRAGMA synchronous = OFF');
  const add = db.query(`
    WITH RECURSIVE back (n) AS (SELECT ?1 UNION ALL SELECT n - 1 FROM back WHERE n > 1)
    INSERT INTO bar SELECT symbol_id, day - n, revision, open + (n % 50) / 4.0, high + (n % 50) / 4.0, low + (n % 50) / 4.0,
      close + (n % 50) / 4.0, source_id, recorded_at, reason, withdrawn FROM bar, back WHERE symbol_id = ?2 AND day = ?3`);
  db.transaction(() => {
    for (const id of ids) add.run(days - 1, id, lastDay);
    db.run('UPDATE bar_change SET first_day = ?', [lastDay - days + 1]); // reads of the past start there
  })();
  db.close();
}
