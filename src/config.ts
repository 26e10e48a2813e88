import { join } from 'node:path';
import { type Mount, readMounts } from './config/mounts.ts';
import { flagOf, SETTINGS, type SettingName } from './config/settings.ts';
import {
  ConfigError,
  type HttpImplementation,
  isPostgresUrl,
  readAddresses,
  readDatabaseUrl,
  readDemo,
  readHttp,
  readList,
  readLogLevel,
  readStandbyUrl,
  readTls,
  readToken,
  readUrl,
  readWebhookSecret,
  readWhole,
  type TlsFiles,
} from './config/values.ts';
import { settingWarnings, type UnknownSetting, unknownSettingsIn } from './config/warnings.ts';
import type { LogLevel } from './runtime/log/log.ts';

/** All settings, read once at the start and frozen. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly http: HttpImplementation;
  /** Serves HTTPS with these files; plain HTTP without. */
  readonly tls: TlsFiles | undefined;
  readonly dataDir: string;
  /** The URL of PostgreSQL, or the path of a SQLite file. */
  readonly databaseUrl: string;
  /** Standbys of that PostgreSQL, for point-in-time reads. */
  readonly readUrl: string | undefined;
  /** How long a start waits for a PostgreSQL that cannot be reached yet. */
  readonly databaseWaitSeconds: number;
  /** Whether a database URL was given: demo data is then only created on request. */
  readonly databaseGiven: boolean;
  /** Whether a data folder or a database URL was given, so that a ledger may be created there. */
  readonly ledgerGiven: boolean;
  readonly demo: 'auto' | 'on' | 'off';
  readonly mounts: readonly Mount[];
  readonly trustedProxies: readonly string[];
  readonly adminToken: string | undefined;
  /** The plan of the key that the page gives to every visitor. */
  readonly publicPlan: string | undefined;
  /** Where alarms and quota events are posted. */
  readonly webhookUrl: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly failedKeysPerMinute: number;
  readonly retention: {
    readonly usageMonths: number;
    readonly keysDays: number;
    readonly importsDays: number;
    readonly auditDays: number;
    readonly minuteBarsDays: number;
  };
  readonly historyMb: number;
  readonly cacheMb: number;
  readonly drainSeconds: number;
  /** Processes on this machine that share the port. */
  readonly processes: number;
  readonly logLevel: LogLevel;
  /** A file for one line of JSON per request; `-` is standard output. */
  readonly accessLog: string | undefined;
  /** The API keys of providers, by the names of their settings. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Whether to trust the clock however far it is from the ledger's newest write. A flag of `serve` only. */
  readonly acceptClock: boolean;
  /** Environment variables that look like settings and are not. */
  readonly unknownSettings: readonly UnknownSetting[];
  /** Oddities in the settings that do not prevent a start. */
  readonly warnings: readonly string[];
}

/** Reads the settings; flags win over the environment. */
export function readConfig(
  env: Record<string, string | undefined>,
  flags: Record<string, string | undefined>,
): Config {
  const given = (name: SettingName): string => (flags[flagOf(name)] ?? env[name] ?? '').trim();
  const text = (name: SettingName): string =>
    given(name) || SETTINGS.find((one) => one.env === name)!.default;
  const whole = (name: SettingName, min: number, max: number): number =>
    readWhole(name, text(name), min, max);
  const list = (name: SettingName): string[] => readList(text(name));

  const dataDir = text('OPENPIT_DATA_DIR');
  const url = readDatabaseUrl(text('OPENPIT_DATABASE_URL'));
  const readUrlText = text('OPENPIT_READ_URL');
  const unknownSettings = unknownSettingsIn(env);
  return Object.freeze({
    host: text('OPENPIT_HOST'),
    port: whole('OPENPIT_PORT', 0, 65_535),
    http: readHttp(text('OPENPIT_HTTP')),
    tls: readTls(text('OPENPIT_TLS_CERT'), text('OPENPIT_TLS_KEY')),
    dataDir,
    databaseUrl: url === '' ? join(dataDir, 'openpit.db') : url,
    readUrl: isPostgresUrl(url) ? readStandbyUrl(readUrlText) : undefined,
    databaseWaitSeconds: whole('OPENPIT_DATABASE_WAIT_SECONDS', 0, 3_600),
    databaseGiven: url !== '',
    ledgerGiven: url !== '' || given('OPENPIT_DATA_DIR') !== '',
    demo: readDemo(text('OPENPIT_DEMO')),
    mounts: readMounts(list('OPENPIT_MOUNTS')),
    trustedProxies: readAddresses('OPENPIT_TRUSTED_PROXIES', list('OPENPIT_TRUSTED_PROXIES')),
    adminToken: readToken('OPENPIT_ADMIN_TOKEN', text('OPENPIT_ADMIN_TOKEN')),
    publicPlan: text('OPENPIT_PUBLIC_PLAN') || undefined,
    webhookUrl: readUrl('OPENPIT_WEBHOOK_URL', text('OPENPIT_WEBHOOK_URL')),
    webhookSecret: readWebhookSecret(text('OPENPIT_WEBHOOK_SECRET')),
    failedKeysPerMinute: whole('OPENPIT_FAILED_KEYS_PER_MINUTE', 1, 1_000_000),
    retention: Object.freeze({
      // 6: usage must outlive its leases, which are finally settled after three months.
      usageMonths: whole('OPENPIT_KEEP_USAGE_MONTHS', 6, 1_200),
      keysDays: whole('OPENPIT_KEEP_KEYS_DAYS', 1, 36_500),
      importsDays: whole('OPENPIT_KEEP_IMPORTS_DAYS', 1, 36_500),
      auditDays: whole('OPENPIT_KEEP_AUDIT_DAYS', 1, 36_500),
      minuteBarsDays: whole('OPENPIT_MINUTE_BARS_DAYS', 1, 36_500),
    }),
    historyMb: whole('OPENPIT_HISTORY_MB', 1, 1_000_000),
    cacheMb: whole('OPENPIT_CACHE_MB', 32, 1_000_000),
    drainSeconds: whole('OPENPIT_DRAIN_SECONDS', 0, 3_600),
    processes: whole('OPENPIT_PROCESSES', 1, 256),
    logLevel: readLogLevel(text('OPENPIT_LOG_LEVEL')),
    accessLog: text('OPENPIT_ACCESS_LOG') || undefined,
    secrets: readSecrets(text),
    acceptClock: false,
    unknownSettings,
    warnings: settingWarnings({
      unknown: unknownSettings,
      adminToken: text('OPENPIT_ADMIN_TOKEN'),
      isReadUrlUnused: readUrlText !== '' && !isPostgresUrl(url),
    }),
  });
}

/** Like `readConfig`, with the default for each invalid setting, and a message about each. */
export function readUsableConfig(
  env: Record<string, string | undefined>,
  flags: Record<string, string | undefined>,
): { config: Config; errors: string[] } {
  const errors: string[] = [];
  const usable = { env: { ...env }, flags: { ...flags } };
  for (;;) {
    try {
      return { config: readConfig(usable.env, usable.flags), errors };
    } catch (error) {
      const names = error instanceof ConfigError ? namesIn(error.message) : [];
      const wrong = names.filter((name) => usable.env[name] ?? usable.flags[flagOf(name)]);
      if (!(error instanceof ConfigError) || wrong.length === 0) throw error;
      errors.push(error.message);
      for (const name of wrong) {
        delete usable.env[name];
        delete usable.flags[flagOf(name)];
      }
    }
  }
}

function readSecrets(text: (name: SettingName) => string): Readonly<Record<string, string>> {
  const secrets: Record<string, string> = {};
  for (const setting of SETTINGS) {
    const value = 'isSecret' in setting ? text(setting.env) : '';
    if (value !== '') secrets[setting.env] = value;
  }
  return Object.freeze(secrets);
}

function namesIn(message: string): SettingName[] {
  return SETTINGS.map(({ env }) => env).filter((env) => new RegExp(`\\b${env}\\b`).test(message));
}
