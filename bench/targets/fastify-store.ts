import { Database } from 'bun:sqlite';
import { SQL } from 'bun';

export interface Bar {
  symbol: string;
  day: string;
  open: number;
  high: number;
  low: number;
  close: number;
}

/** The queries of the conventional service. */
export interface Store {
  /** Takes a unit. Returns what is left; undefined if nothing was left. */
  spend(key: string): Promise<number | undefined>;
  latest(symbols: readonly string[]): Promise<Record<string, number>>;
  bars(symbols: readonly string[], first: string, last: string): Promise<Bar[]>;
}

const DAYS = 3_000;
const LAST_DAY = Date.UTC(2026, 5, 30);
const QUOTA = 1_000_000_000;

/** The five symbols that the scenarios request, and others. */
export const SYMBOLS = [
  'XAU',
  'XAG',
  'PL',
  'PA',
  'HG-SPOT',
  ...Array.from({ length: 125 }, (_, i) => `S${i}`),
];

const TABLES = [
  'CREATE TABLE bar (symbol TEXT, day TEXT, open DOUBLE PRECISION, high DOUBLE PRECISION, low DOUBLE PRECISION, close DOUBLE PRECISION, PRIMARY KEY (symbol, day))',
  'CREATE TABLE latest (symbol TEXT PRIMARY KEY, price DOUBLE PRECISION)',
  'CREATE TABLE account (key TEXT PRIMARY KEY, quota BIGINT, used BIGINT)',
];

export async function openStore(engine: string, place: string): Promise<Store> {
  return engine === 'sqlite' ? openSqlite(place) : await openPostgres(place);
}

function openSqlite(file: string): Store {
  const db = new Database(file, { create: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA synchronous = NORMAL');
  for (const table of TABLES) db.run(table);
  const addBar = db.query('INSERT INTO bar VALUES (?, ?, ?, ?, ?, ?)');
  const addLatest = db.query('INSERT INTO latest VALUES (?, ?)');
  db.transaction(() => {
    for (const symbol of SYMBOLS) {
      for (const { day, open, high, low, close } of walk(symbol))
        addBar.run(symbol, day, open, high, low, close);
      addLatest.run(symbol, 100);
    }
  })();
  const addAccount = db.query('INSERT OR IGNORE INTO account VALUES (?, ?, 0)');
  const take = db.query(
    'UPDATE account SET used = used + 1 WHERE key = ? AND used < quota RETURNING quota - used AS left',
  );
  const latest = db.query('SELECT price FROM latest WHERE symbol = ?');
  const bars = db.query(
    'SELECT symbol, day, open, high, low, close FROM bar WHERE symbol = ? AND day BETWEEN ? AND ?',
  );
  return {
    async spend(key) {
      let row = take.get(key);
      if (!row) {
        addAccount.run(key, QUOTA);
        row = take.get(key);
      }
      return (row as { left: number } | null)?.left;
    },
    async latest(symbols) {
      return Object.fromEntries(
        symbols.map((symbol) => [symbol, (latest.get(symbol) as { price: number }).price]),
      );
    },
    async bars(symbols, first, last) {
      return symbols.flatMap((symbol) => bars.all(symbol, first, last) as Bar[]);
    },
  };
}

async function openPostgres(url: string): Promise<Store> {
  const sql = new SQL(url, { max: 10 });
  for (const table of TABLES) await sql.unsafe(table);
  for (const symbol of SYMBOLS) {
    await sql`INSERT INTO bar ${sql(walk(symbol))}`;
    await sql`INSERT INTO latest VALUES (${symbol}, 100)`;
  }
  await sql`ANALYZE`;
  return {
    async spend(key) {
      const take = () =>
        sql`UPDATE account SET used = used + 1 WHERE key = ${key} AND used < quota RETURNING quota - used AS left`;
      let [row] = await take();
      if (!row) {
        await sql`INSERT INTO account VALUES (${key}, ${QUOTA}, 0) ON CONFLICT DO NOTHING`;
        [row] = await take();
      }
      return row && Number(row.left);
    },
    async latest(symbols) {
      const rows = await sql`SELECT symbol, price FROM latest WHERE symbol IN ${sql(symbols)}`;
      return Object.fromEntries(
        rows.map((row: { symbol: string; price: number }) => [row.symbol, row.price]),
      );
    },
    bars: (symbols, first, last) =>
      sql`SELECT symbol, day, open, high, low, close FROM bar WHERE symbol IN ${sql(symbols)} AND day BETWEEN ${first} AND ${last}`,
  };
}

/** A random walk that is the same each time. */
function walk(symbol: string): Bar[] {
  let price = 100 + (Number(Bun.hash(symbol)) % 900);
  return Array.from({ length: DAYS }, (_, i) => {
    const day = new Date(LAST_DAY - (DAYS - i) * 86_400_000).toISOString().slice(0, 10);
    price = Math.round(price * (1 + (((i * 7_919) % 200) - 99.5) / 5_000) * 100) / 100;
    return { symbol, day, open: price, high: price + 1, low: price - 1, close: price };
  });
}
