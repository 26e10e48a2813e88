import { FIRST_MIGRATIONS } from './first-migrations.ts';
import type { Migration } from './migration.ts';

export const MIGRATIONS: readonly Migration[] = [
  ...FIRST_MIGRATIONS,
  {
    id: 10,
    title: 'when changes of bars were recorded',
    statements: [
      // 0 stands for "at any time", which is what an older program writes while replicas are being replaced.
      `ALTER TABLE bar_change ADD COLUMN recorded_at BIGINT NOT NULL DEFAULT 0`,
      `UPDATE bar_change SET recorded_at = coalesce((
         SELECT b.recorded_at FROM bar b WHERE b.symbol_id = bar_change.symbol_id AND b.day >= bar_change.first_day
           AND b.day <= bar_change.last_day AND b.revision = bar_change.revision ORDER BY b.day LIMIT 1), 0)`,
      // A covering index for the first day that a symbol had by a given time.
      `CREATE INDEX bar_change_by_symbol ON bar_change (symbol_id, recorded_at, first_day)`,
    ],
  },
  {
    id: 11,
    title: 'series of a feed that fail',
    statements: [
      // A JSON list of { series, reason, since, lateAt }: the series that failed in a run that otherwise succeeded.
      `ALTER TABLE feed ADD COLUMN failing TEXT NOT NULL DEFAULT '[]'`,
    ],
  },
  {
    id: 12,
    title: 'old usage and lost leases are found by their month',
    statements: [
      `CREATE INDEX quota_period_by_month ON quota_period (period)`,
      `CREATE INDEX quota_lease_lost ON quota_lease (period) WHERE open = 0 AND settled = 0`,
    ],
  },
  {
    id: 13,
    title: 'alarms of each replica',
    statements: [
      // A JSON list of { name, since, event }, as of its last heartbeat.
      `ALTER TABLE replica ADD COLUMN alarms TEXT NOT NULL DEFAULT '[]'`,
    ],
  },
  {
    id: 14,
    title: 'plans without a span of their own',
    statements: [
      // 30 days were the default before: with 0, they mean what the version of the interface says.
      `ALTER TABLE plan ADD COLUMN max_span_set INTEGER NOT NULL DEFAULT 0`,
    ],
  },
  {
    id: 15,
    title: 'leases expire with their process',
    statements: [
      // Its leases can be spent from until then. A released holder has lost its leases and never gets them back.
      `CREATE TABLE quota_holder (
         replica TEXT PRIMARY KEY, expires_at BIGINT NOT NULL, released INTEGER NOT NULL DEFAULT 0) {clustered}`,
      `CREATE INDEX quota_lease_by_replica ON quota_lease (replica) WHERE open = 1`,
      // When its holder last reported. 0: by an older program, which renewed each lease by itself.
      `ALTER TABLE quota_lease ADD COLUMN synced_at BIGINT NOT NULL DEFAULT 0`,
      // Barriers and recalls that a holder has not read yet.
      `CREATE TABLE quota_signal (
         replica TEXT NOT NULL, account_id TEXT NOT NULL, period INTEGER NOT NULL, barrier BIGINT NOT NULL,
         recall_at BIGINT NOT NULL, PRIMARY KEY (replica, account_id, period)) {clustered}`,
    ],
  },
  {
    id: 16,
    title: 'audit log, names and uses of keys',
    statements: [
      // `id` is a UUID of version 7, so it orders the entries by time. `details` is a JSON object.
      `CREATE TABLE audit_entry (
         id TEXT PRIMARY KEY, at BIGINT NOT NULL, actor TEXT NOT NULL, via TEXT NOT NULL, address TEXT,
         action TEXT NOT NULL, target TEXT NOT NULL, details TEXT NOT NULL) {clustered}`,
      `CREATE INDEX audit_entry_by_time ON audit_entry (at)`,
      `ALTER TABLE api_key ADD COLUMN name TEXT NOT NULL DEFAULT ''`,
      // Statistics by key, for the account page. The quota is counted in usage_day.
      `CREATE TABLE key_use (
         account_id TEXT NOT NULL, key_id TEXT NOT NULL, day INTEGER NOT NULL, endpoint TEXT NOT NULL,
         count BIGINT NOT NULL, last_at BIGINT NOT NULL,
         PRIMARY KEY (account_id, key_id, day, endpoint)) {clustered}`,
    ],
  },
  {
    id: 17,
    title: 'intraday bars',
    statements: [
      // The hours of days whose ticks are deleted. `minutes` is packed, or NULL once minutes are no longer kept.
      // `minute_count` and `close_sum` are those of the minutes, for the average. Not in key order: SQLite would put
      // most of a long row into a page of its own.
      `CREATE TABLE hour_bar (
         symbol_id INTEGER NOT NULL, day INTEGER NOT NULL, at BIGINT NOT NULL, source_id INTEGER NOT NULL,
         open DOUBLE PRECISION NOT NULL, high DOUBLE PRECISION NOT NULL,
         low DOUBLE PRECISION NOT NULL, close DOUBLE PRECISION NOT NULL,
         minute_count INTEGER NOT NULL, close_sum DOUBLE PRECISION NOT NULL, minutes TEXT,
         PRIMARY KEY (symbol_id, day, at, source_id))`,
      `CREATE INDEX hour_bar_with_minutes ON hour_bar (day) WHERE minutes IS NOT NULL`,
    ],
  },
  {
    id: 18,
    title: 'named formulas',
    statements: [
      // A deleted formula stays as a row, so that followers see the change by its revision.
      `CREATE TABLE formula (
         code TEXT PRIMARY KEY, name TEXT NOT NULL, expression TEXT NOT NULL, unit TEXT NOT NULL,
         currency TEXT NOT NULL, deleted INTEGER NOT NULL, revision BIGINT NOT NULL)`,
    ],
  },
  {
    id: 19,
    title: 'usage by month is found by month and account',
    statements: [
      // PostgreSQL may choose either index. By the month alone it read all accounts of the month for each of them.
      `DROP INDEX quota_period_by_month`,
      `CREATE INDEX quota_period_by_month ON quota_period (period, account_id)`,
      `DROP INDEX quota_period_by_signal`, // unused since schema 15
    ],
  },
  {
    id: 20,
    title: 'accounts by creation and old uses of keys are found by index',
    statements: [
      `CREATE INDEX account_by_creation ON account (created_at, id)`,
      // Those that are no longer kept are looked for every hour.
      `CREATE INDEX key_use_by_day ON key_use (day)`,
    ],
  },
  {
    id: 21,
    title: 'which revisions of bars restored earlier ones',
    statements: [
      // The revision that first published what this one restored; 0 for a day without a bar. NULL: none, or restored by an
      // older program.
      `ALTER TABLE bar ADD COLUMN restores BIGINT`,
    ],
  },
];

export const SCHEMA_VERSION = MIGRATIONS.at(-1)!.id;

/** Everything that creates this program's schema in an empty database, except for the list of migrations. */
export function schemaStatements(clustered: string): string[] {
  return [CREATE_MIGRATION, ...MIGRATIONS.flatMap(({ statements }) => statements)].map((statement) =>
    statement.replace('{clustered}', clustered),
  );
}

export const CREATE_MIGRATION = 'CREATE TABLE migration (id INTEGER PRIMARY KEY, title TEXT NOT NULL)';
