import type { Migration } from './migration.ts';

/** The first nine migrations. Like every released migration, they never change. */
export const FIRST_MIGRATIONS: readonly Migration[] = [
  {
    id: 1,
    title: 'prices, symbols, accounts',
    statements: [
      `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
      // One row per revision counter. A write locks its row, so revisions are committed in order.
      `CREATE TABLE counter (name TEXT PRIMARY KEY, value BIGINT NOT NULL)`,
      `INSERT INTO counter (name, value) VALUES ('prices', 0), ('accounts', 0)`,

      `CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)`,
      `CREATE TABLE symbol (
         id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT NOT NULL, category TEXT NOT NULL,
         currency_code TEXT NOT NULL, currency_name TEXT NOT NULL, currency_symbol TEXT NOT NULL,
         unit_symbol TEXT NOT NULL, unit_name TEXT NOT NULL, market TEXT NOT NULL, decimals INTEGER NOT NULL,
         status TEXT NOT NULL, update_interval TEXT NOT NULL,
         real_revision BIGINT, revision BIGINT NOT NULL)`,
      `CREATE TABLE alias (
         alias TEXT PRIMARY KEY, symbol_id INTEGER NOT NULL REFERENCES symbol (id), kind TEXT NOT NULL,
         revision BIGINT NOT NULL)`,
      `CREATE TABLE bar (
         symbol_id INTEGER NOT NULL, day INTEGER NOT NULL, revision BIGINT NOT NULL,
         open DOUBLE PRECISION NOT NULL, high DOUBLE PRECISION NOT NULL,
         low DOUBLE PRECISION NOT NULL, close DOUBLE PRECISION NOT NULL,
         source_id INTEGER NOT NULL, recorded_at BIGINT NOT NULL, reason TEXT,
         PRIMARY KEY (symbol_id, day, revision)) {clustered}`,
      // Which days of which symbol a revision touched: followers read this instead of an index over all bars.
      `CREATE TABLE bar_change (
         revision BIGINT NOT NULL, symbol_id INTEGER NOT NULL, first_day INTEGER NOT NULL, last_day INTEGER NOT NULL,
         PRIMARY KEY (revision, symbol_id)) {clustered}`,
      `CREATE TABLE tick (
         symbol_id INTEGER NOT NULL, source_id INTEGER NOT NULL, tick_id TEXT NOT NULL, day INTEGER NOT NULL,
         at BIGINT NOT NULL, received BIGINT NOT NULL, price DOUBLE PRECISION NOT NULL, revision BIGINT NOT NULL,
         PRIMARY KEY (symbol_id, source_id, tick_id)) {clustered}`,
      `CREATE INDEX tick_by_day ON tick (symbol_id, day)`,
      `CREATE INDEX tick_by_revision ON tick (revision)`,

      `CREATE TABLE plan (
         name TEXT PRIMARY KEY, quota BIGINT NOT NULL, delay_seconds INTEGER NOT NULL, max_symbols INTEGER NOT NULL,
         max_span_days INTEGER NOT NULL, burst_per_second INTEGER NOT NULL, revision BIGINT NOT NULL)`,
      `CREATE TABLE account (
         id TEXT PRIMARY KEY, name TEXT NOT NULL, plan TEXT NOT NULL REFERENCES plan (name), status TEXT NOT NULL,
         created_at BIGINT NOT NULL, revision BIGINT NOT NULL)`,
      `CREATE INDEX account_by_revision ON account (revision)`,
      `CREATE TABLE api_key (
         hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL REFERENCES account (id),
         created_at BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT, allowed_ips TEXT,
         header_only INTEGER NOT NULL, revision BIGINT NOT NULL)`,
      `CREATE INDEX api_key_by_account ON api_key (account_id)`,
      `CREATE INDEX api_key_by_revision ON api_key (revision)`,
    ],
  },
  {
    id: 2,
    title: 'quota leases',
    statements: [
      // No foreign key to account: a spool may report counts of a deleted account.
      `CREATE TABLE quota_period (
         account_id TEXT NOT NULL, period INTEGER NOT NULL, granted BIGINT NOT NULL, used BIGINT NOT NULL,
         barrier BIGINT NOT NULL, recall_at BIGINT NOT NULL, signalled_at BIGINT NOT NULL, notified INTEGER NOT NULL,
         PRIMARY KEY (account_id, period)) {clustered}`,
      `CREATE INDEX quota_period_by_signal ON quota_period (signalled_at)`,
      // spent_by is JSON: units by endpoint. Their sum is spent.
      `CREATE TABLE quota_lease (
         lease_id TEXT PRIMARY KEY, account_id TEXT NOT NULL, period INTEGER NOT NULL, replica TEXT NOT NULL,
         granted BIGINT NOT NULL, spent BIGINT NOT NULL, spent_by TEXT NOT NULL, seq BIGINT NOT NULL,
         barrier_ack BIGINT NOT NULL, open INTEGER NOT NULL, expires_at BIGINT NOT NULL) {clustered}`,
      // Closed leases accumulate during the month; every sync queries only the open ones.
      `CREATE INDEX quota_lease_open ON quota_lease (account_id, period) WHERE open = 1`,
      `CREATE INDEX quota_lease_by_expiry ON quota_lease (expires_at) WHERE open = 1`,
      `CREATE TABLE usage_day (
         account_id TEXT NOT NULL, period INTEGER NOT NULL, day INTEGER NOT NULL, endpoint TEXT NOT NULL,
         count BIGINT NOT NULL, PRIMARY KEY (account_id, period, day, endpoint)) {clustered}`,
      `CREATE TABLE quota_event (
         account_id TEXT NOT NULL, period INTEGER NOT NULL, percent INTEGER NOT NULL, used BIGINT NOT NULL,
         quota BIGINT NOT NULL, at BIGINT NOT NULL, sent_at BIGINT, attempts INTEGER NOT NULL DEFAULT 0,
         claimed_until BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (account_id, period, percent))
         {clustered}`,
      `CREATE INDEX quota_event_unsent ON quota_event (at) WHERE sent_at IS NULL`,
    ],
  },
  {
    id: 3,
    title: 'feeds and their runs',
    statements: [
      // `holder` and `lease_until`: who runs the feed now, by the ledger's own time. `late_at`: when it counts as late.
      `CREATE TABLE feed (
         key TEXT PRIMARY KEY, enabled INTEGER NOT NULL, last_run INTEGER NOT NULL, last_ok BIGINT,
         last_full BIGINT, next_run BIGINT, late_at BIGINT, failures INTEGER NOT NULL,
         days INTEGER NOT NULL, gaps INTEGER NOT NULL, first_day INTEGER, last_day INTEGER,
         holder TEXT, lease_until BIGINT NOT NULL)`,
      `CREATE TABLE feed_run (
         feed TEXT NOT NULL REFERENCES feed (key), number INTEGER NOT NULL, started BIGINT NOT NULL, ended BIGINT,
         status TEXT NOT NULL, message TEXT, body_hash TEXT, bytes BIGINT NOT NULL, requests INTEGER NOT NULL,
         taken INTEGER NOT NULL, corrected INTEGER NOT NULL, unchanged INTEGER NOT NULL, missing INTEGER NOT NULL,
         refused INTEGER NOT NULL, reasons TEXT NOT NULL,
         PRIMARY KEY (feed, number)) {clustered}`,
      `CREATE INDEX feed_run_by_start ON feed_run (started)`,
      // The validators of an ingested body, for conditional requests.
      `CREATE TABLE feed_body (
         feed TEXT NOT NULL REFERENCES feed (key), url_hash TEXT NOT NULL, etag TEXT, last_modified TEXT,
         observations INTEGER NOT NULL, run_number INTEGER NOT NULL,
         PRIMARY KEY (feed, url_hash)) {clustered}`,
    ],
  },
  {
    id: 4,
    title: 'long history by plan',
    statements: [`ALTER TABLE plan ADD COLUMN history INTEGER NOT NULL DEFAULT 1`],
  },
  {
    id: 5,
    title: 'notes of runs, ticks in quarantine',
    statements: [
      `ALTER TABLE feed_run ADD COLUMN odd INTEGER NOT NULL DEFAULT 0`,
      `ALTER TABLE feed_run ADD COLUMN ignored INTEGER NOT NULL DEFAULT 0`,
      `ALTER TABLE feed_run ADD COLUMN notes TEXT NOT NULL DEFAULT '[]'`,
      // Outlying ticks. `state` is held, released or dropped.
      `CREATE TABLE quarantine_tick (
         id INTEGER PRIMARY KEY, symbol_id INTEGER NOT NULL, source_id INTEGER NOT NULL, tick_id TEXT NOT NULL,
         at BIGINT NOT NULL, received BIGINT NOT NULL, price DOUBLE PRECISION NOT NULL, reason TEXT NOT NULL,
         state TEXT NOT NULL, decided_at BIGINT, decided_by TEXT,
         UNIQUE (symbol_id, source_id, tick_id))`,
      `CREATE INDEX quarantine_tick_held ON quarantine_tick (symbol_id) WHERE state = 'held'`,
      // Every incoming tick is compared with its neighbours in time.
      `DROP INDEX tick_by_day`,
      `CREATE INDEX tick_by_day ON tick (symbol_id, day, at)`,
    ],
  },
  {
    id: 6,
    title: 'replicas',
    statements: [
      // One row per serving process. `head` is the ledger's revision at `seen`.
      `CREATE TABLE replica (
         id TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, phase TEXT NOT NULL,
         started BIGINT NOT NULL, seen BIGINT NOT NULL, revision BIGINT NOT NULL, head BIGINT NOT NULL)`,
    ],
  },
  {
    id: 7,
    title: 'settled leases are folded',
    statements: [
      // Leases closed before this migration have no mark and are kept.
      `ALTER TABLE quota_lease ADD COLUMN settled INTEGER NOT NULL DEFAULT 0`,
      `ALTER TABLE quota_period ADD COLUMN folded BIGINT NOT NULL DEFAULT 0`,
      `CREATE INDEX quota_lease_settled ON quota_lease (period, account_id) WHERE settled = 1`,
    ],
  },
  {
    id: 8,
    title: 'withdrawn bars, bars in quarantine, imports',
    statements: [
      // 0: published. 1: withdrawn by its source. 2: withdrawn by the operator.
      `ALTER TABLE bar ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0`,
      `ALTER TABLE feed_run ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0`,
      `ALTER TABLE feed_run ADD COLUMN held INTEGER NOT NULL DEFAULT 0`,
      // Suspicious bars. `origin` is the run that delivered them. `state` is held, released or dropped.
      `CREATE TABLE quarantine_bar (
         id INTEGER PRIMARY KEY, symbol_id INTEGER NOT NULL, source_id INTEGER NOT NULL, day INTEGER NOT NULL,
         open DOUBLE PRECISION NOT NULL, high DOUBLE PRECISION NOT NULL,
         low DOUBLE PRECISION NOT NULL, close DOUBLE PRECISION NOT NULL,
         received BIGINT NOT NULL, reason TEXT NOT NULL, origin TEXT NOT NULL,
         state TEXT NOT NULL, decided_at BIGINT, decided_by TEXT,
         UNIQUE (symbol_id, source_id, day))`,
      `CREATE TABLE import_run (
         number INTEGER PRIMARY KEY, started BIGINT NOT NULL, ended BIGINT, undone BIGINT,
         file TEXT NOT NULL, source TEXT NOT NULL,
         taken INTEGER NOT NULL, corrected INTEGER NOT NULL, unchanged INTEGER NOT NULL,
         held INTEGER NOT NULL, refused INTEGER NOT NULL)`,
      // The revisions of an import, one per transaction, by which undo finds its bars.
      `CREATE TABLE import_revision (
         run INTEGER NOT NULL, revision BIGINT NOT NULL, PRIMARY KEY (run, revision)) {clustered}`,
    ],
  },
  {
    id: 9,
    title: 'ticks are folded and deleted in bounded steps',
    statements: [
      // A covering index: folding a day does not read the table, which is ordered by hashed ids.
      `DROP INDEX tick_by_day`,
      `CREATE INDEX tick_by_day ON tick (symbol_id, day, at, source_id, received, price, revision)`,
      // Days whose ticks are being deleted. The remaining ticks are incomplete and must not become a bar.
      `CREATE TABLE tick_pruning (
         symbol_id INTEGER NOT NULL, day INTEGER NOT NULL, simulated INTEGER NOT NULL,
         PRIMARY KEY (symbol_id, day, simulated)) {clustered}`,
    ],
  },
];
