/**
 * `npm run bench:row-sizes [-- ROWS]`: what a million rows of each growing table take on disk, indexes included, on both
 * engines. It prints the columns for the table in docs/operating.md.
 */
import { packMinutes } from '../src/ledger/intraday/pack-minutes.ts';
import type { IntradayBar } from '../src/market/intraday/bar.ts';
import { MINUTE_MS } from '../src/market/intraday/interval.ts';
import { Seeded } from '../test/support/seeded.ts';
import { type BenchLedger, ENGINES, newBenchLedger } from './lib/bench-ledger.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);

const ACCOUNT = `'acc_' || substr('000000000000' || (i % 10000), -12)`;
/** As long as a UUID; no two are the same. */
const UUID = `'01928374-5566-7788-99aa-' || substr('000000000000' || i, -12)`;
const HASH = `'9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15' || substr('00000000' || i, -8)`;
const PRICES = '50 + i / 7.0, 60 + i / 7.0, 40 + i / 7.0, 50 + i / 13.0';
const NOW = 1_760_000_000_000;

/** The columns and values of a row `i` in each table, as wide as in use. */
const TABLES: Readonly<Record<string, readonly [columns: string, values: string]>> = {
  bar: [
    'symbol_id, day, revision, open, high, low, close, source_id, recorded_at',
    `1 + i % 200, i / 200, i / 2000, ${PRICES}, 2, ${NOW}`,
  ],
  bar_change: [
    'revision, symbol_id, first_day, last_day, recorded_at',
    `i / 100, 1 + i % 100, i / 100, i / 100, ${NOW}`,
  ],
  tick: [
    'symbol_id, source_id, tick_id, day, at, received, price, revision',
    `1 + i % 200, 2, substr(${HASH}, 33) , 20000 + i % 7, ${NOW} + i, ${NOW} + i, i / 7.0, i / 1000`,
  ],
  'hour_bar with minutes': [
    'symbol_id, day, at, source_id, open, high, low, close, minute_count, close_sum, minutes',
    `1 + i % 200, 20000 + i / 4600, ${NOW} + i, 2, ${PRICES}, 60, i / 7.0, '${minutesOfAnHour()}'`,
  ],
  'hour_bar without minutes': [
    'symbol_id, day, at, source_id, open, high, low, close, minute_count, close_sum',
    `1 + i % 200, 10000 + i / 4600, ${NOW} + i, 2, ${PRICES}, 60, i / 7.0`,
  ],
  usage_day: [
    'account_id, period, day, endpoint, count',
    `${ACCOUNT}, 202601 + i / 500000, i / 10000, 'time-series', i`,
  ],
  quota_period: [
    'account_id, period, granted, used, barrier, recall_at, signalled_at, notified',
    `${ACCOUNT}, 202601 + i / 10000, i, i, 0, 0, ${NOW}, 0`,
  ],
  quota_event: [
    'account_id, period, percent, used, quota, at, sent_at',
    `${ACCOUNT}, 202601 + i / 10000, 75, i, i, ${NOW}, ${NOW}`,
  ],
  quota_lease: [
    'lease_id, account_id, period, replica, granted, spent, spent_by, seq, barrier_ack, open, settled, expires_at',
    `${UUID}, ${ACCOUNT}, 202610, ${UUID}, 100, 100, '{"latest":80,"time-series":20}', 9, 0, 0, 1, ${NOW}`,
  ],
  account: [
    'id, name, plan, status, created_at, revision',
    `'acc_' || substr('000000000000' || i, -12), 'A customer, Inc.', 'pro', 'active', ${NOW}, i`,
  ],
  api_key: [
    'hash, id, account_id, created_at, revoked_at, header_only, revision',
    `${HASH}, 'key_' || substr('000000000000' || i, -12), 'acc_' || substr('000000000000' || i, -12), ${NOW}, ${NOW}, 0, i`,
  ],
  feed_run: [
    'feed, number, started, ended, status, bytes, requests, taken, corrected, unchanged, missing, refused, reasons',
    `'bench', i, ${NOW}, ${NOW}, 'ok', 100000, 20, 30, 0, 5000, 0, 0, '[]'`,
  ],
  quarantine_bar: [
    'id, symbol_id, source_id, day, open, high, low, close, received, reason, origin, state',
    `i, 1 + i % 200, 2, i / 200, ${PRICES}, ${NOW}, 'the close is 10.02 times that of its neighbours', 'import 3', 'dropped'`,
  ],
  audit_entry: [
    'id, at, actor, via, address, action, target, details',
    `${UUID}, ${NOW}, 'ada', 'page', '203.0.113.7', 'account.update', ${ACCOUNT}, '{"plan":["free","pro"]}'`,
  ],
  key_use: [
    'account_id, key_id, day, endpoint, count, last_at',
    `${ACCOUNT}, 'key_' || substr('000000000000' || i, -12), i / 10000, 'time-series', i, ${NOW}`,
  ],
  import_revision: ['run, revision', '1, i'],
};

const sizes = new Map<string, number[]>();
for (const engine of ENGINES) {
  const ledger = await newBenchLedger(engine, 200);
  try {
    await ledger.sql.unsafe(`INSERT INTO feed (key, enabled, last_run, failures, days, gaps, lease_until)
      VALUES ('bench', 0, 0, 0, 0, 0, 0)`);
    for (const [table, [columns, values]] of Object.entries(TABLES)) {
      const mb = await growth(
        ledger,
        `INSERT INTO ${table.split(' ')[0]} (${columns}) SELECT ${portable(engine, values)} FROM ${ledger.numbers(ROWS)}`,
      );
      sizes.set(table, [...(sizes.get(table) ?? []), (mb / ROWS) * 1_000_000]);
      console.log(`${engine} ${table}: ${Math.round(mb)} MB for ${ROWS} rows`);
    }
  } finally {
    await ledger.remove();
  }
}
console.log('\n| Table | SQLite | PostgreSQL |\n|---|---|---|');
for (const [table, [sqlite, postgres]] of sizes) {
  console.log(`| \`${table}\` | ${Math.round(sqlite!)} MB | ${Math.round(postgres!)} MB |`);
}

/** An hour of crude oil with a price in every minute, as the ledger stores it. */
function minutesOfAnHour(): string {
  const chance = new Seeded(1);
  let close = 8_213;
  const minutes = Array.from({ length: 60 }, (_, i): IntradayBar => {
    const open = close;
    close += chance.below(13) - 6;
    const [high, low] = [Math.max(open, close) + chance.below(6), Math.min(open, close) - chance.below(6)];
    const ohlc = { open: open / 100, high: high / 100, low: low / 100, close: close / 100 };
    return { at: i * MINUTE_MS, day: 0, ...ohlc, sourceId: 2, minutes: 1, closeSum: close / 100 };
  });
  return packMinutes(minutes);
}

/** By how many MB the whole database grows. */
async function growth({ engine, sql }: BenchLedger, statement: string): Promise<number> {
  const size = async () => {
    const [row] =
      engine === 'SQLite'
        ? await sql`SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()`
        : await sql`SELECT pg_database_size(current_database()) AS bytes`;
    return Number(row.bytes) / 1e6;
  };
  const before = await size();
  await sql.unsafe(statement);
  return (await size()) - before;
}

/** `substr` counts from the end only in SQLite. */
function portable(engine: string, values: string): string {
  if (engine === 'SQLite') return values;
  return values.replaceAll(/substr\(('0+' \|\| (?:\([^()]*\)|i)), -(\d+)\)/g, 'right($1, $2)');
}
