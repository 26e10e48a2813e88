import { join } from 'node:path';
import { isAddressOrRange } from './gate/addresses.ts';
import { nearestCodes } from './market/symbol.ts';
import { LOG_LEVELS, type LogLevel } from './runtime/log/log.ts';

/** Every setting, read once at the start and frozen. Units are in the names. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Serves HTTPS with these files; plain HTTP without. */
  readonly tls: TlsFiles | undefined;
  readonly dataDir: string;
  /** The URL of PostgreSQL, or the path of a SQLite file. */
  readonly databaseUrl: string;
  /** Standbys of that PostgreSQL, for reads about the past. */
  readonly readUrl: string | undefined;
  /** How long a start waits for a PostgreSQL that is not up yet. */
  readonly databaseWaitSeconds: number;
  /** Whether a database URL was given: demo data is then only made when asked for. */
  readonly databaseGiven: boolean;
  /** Whether a data folder or a database URL was given, so that a ledger may be created there. */
  readonly ledgerGiven: boolean;
  readonly demo: 'auto' | 'on' | 'off';
  readonly mounts: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly adminToken: string | undefined;
  /** The plan of the key that the page gives to everybody. */
  readonly publicPlan: string | undefined;
  /** Where quota events are posted. */
  readonly webhookUrl: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly failedKeysPerMinute: number;
  /** How long usage, old keys and imports are kept. */
  readonly retention: {
    readonly usageMonths: number;
    readonly keysDays: number;
    readonly importsDays: number;
  };
  readonly historyMb: number;
  readonly cacheMb: number;
  readonly drainSeconds: number;
  /** Processes that share the port, on one machine. */
  readonly processes: number;
  readonly logLevel: LogLevel;
  /** A file for one line of JSON per request; `-` is standard output. */
  readonly accessLog: string | undefined;
  /** Settings that providers of prices ask for by name, such as their API keys. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Whether the clock is taken as it is, however far it is from the ledger's newest write. A flag of `serve` alone. */
  readonly acceptClock: boolean;
  /** Variables that look like settings and are none. */
  readonly unknownSettings: readonly UnknownSetting[];
  /** What is odd about the settings but does not stop the start. */
  readonly warnings: readonly string[];
}

/** A variable of the environment that has no effect, and the setting that was probably meant. */
export interface UnknownSetting {
  readonly name: string;
  readonly meant: string | undefined;
}

/** Paths of a certificate chain and its private key, both PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** One setting: an environment variable and the flag of the same name. The README's table is made from this list. */
export interface Setting {
  env: string;
  default: string;
  help: string;
  /** For providers of prices only, which ask for it by its name. */
  isSecret?: true;
}

export const SETTINGS = [
  { env: 'OPENPIT_HOST', default: '127.0.0.1', help: 'Address to listen on; 0.0.0.0 for all' },
  { env: 'OPENPIT_PORT', default: '8080', help: 'Port to listen on; 0 for any free one' },
  {
    env: 'OPENPIT_TLS_CERT',
    default: '',
    help: 'File of the certificate with its chain (PEM): HTTPS instead of HTTP. Reloaded when it changes',
  },
  {
    env: 'OPENPIT_TLS_KEY',
    default: '',
    help: 'File of the private key of that certificate (PEM, without a passphrase)',
  },
  {
    env: 'OPENPIT_DATA_DIR',
    default: './data',
    help: 'Folder for the SQLite ledger, the spool of counts and the demo key',
  },
  {
    env: 'OPENPIT_DATABASE_URL',
    default: '',
    help: 'PostgreSQL (postgres://…), also several hosts (postgres://…@one:5432,two:5432/db): the primary is used. Without it, SQLite in the data folder',
  },
  {
    env: 'OPENPIT_READ_URL',
    default: '',
    help: 'A standby of that PostgreSQL (or several hosts), for requests about the past. Without it, or when it is away or behind, the primary reads',
  },
  {
    env: 'OPENPIT_DATABASE_WAIT_SECONDS',
    default: '60',
    help: 'How long a start waits for a PostgreSQL that is not up yet',
  },
  {
    env: 'OPENPIT_DEMO',
    default: '',
    help: 'true: simulated prices and a demo key. false: none. Unset: when SQLite is new and empty',
  },
  { env: 'OPENPIT_MOUNTS', default: '/,/v1,/v2', help: 'Paths under which the interface is served' },
  {
    env: 'OPENPIT_TRUSTED_PROXIES',
    default: '',
    help: 'Addresses of proxies whose X-Forwarded-For is believed; each must overwrite what clients send',
  },
  {
    env: 'OPENPIT_ADMIN_TOKEN',
    default: '',
    help: 'Token for the operator’s page, for pushing prices, and for /metrics, which is then closed without it',
  },
  {
    env: 'OPENPIT_PUBLIC_PLAN',
    default: '',
    help: 'A plan: everybody who opens the page then has a key of it',
  },
  {
    env: 'OPENPIT_WEBHOOK_URL',
    default: '',
    help: 'Where to post that an account reached 75, 90 or 100 % of its quota, and alarms',
  },
  {
    env: 'OPENPIT_WEBHOOK_SECRET',
    default: '',
    help: 'Signs those posts; without it one is made (openpit webhook secret)',
  },
  {
    env: 'OPENPIT_FAILED_KEYS_PER_MINUTE',
    default: '60',
    help: 'Wrong keys or tokens an address may send in a minute before it is told to wait; right ones always pass',
  },
  {
    env: 'OPENPIT_KEEP_USAGE_MONTHS',
    default: '25',
    help: 'Months of usage to keep, the current one included',
  },
  {
    env: 'OPENPIT_KEEP_KEYS_DAYS',
    default: '90',
    help: 'Days to keep keys after they were revoked or have expired',
  },
  {
    env: 'OPENPIT_KEEP_IMPORTS_DAYS',
    default: '365',
    help: 'Days for which an import can be undone',
  },
  {
    env: 'OPENPIT_HISTORY_MB',
    default: '512',
    help: 'Memory for price history; the least recently used is evicted',
  },
  {
    env: 'OPENPIT_CACHE_MB',
    default: '384',
    help: 'Memory for all caches of a process together: responses, keys, texts, request heads',
  },
  { env: 'OPENPIT_DRAIN_SECONDS', default: '10', help: 'How long a stop waits for requests under way' },
  {
    env: 'OPENPIT_PROCESSES',
    default: '1',
    help: 'Processes that share the port, to use every core of a machine',
  },
  {
    env: 'OPENPIT_LOG_LEVEL',
    default: 'info',
    help: `One of ${LOG_LEVELS.join(', ')}; debug logs every request`,
  },
  {
    env: 'OPENPIT_ACCESS_LOG',
    default: '',
    help: 'File for one line of JSON per request, without keys; - for standard output. Unset: no access log',
  },
  { env: 'OPENPIT_FRED_API_KEY', default: '', help: 'Key for the feed fred', isSecret: true },
  { env: 'OPENPIT_EIA_API_KEY', default: '', help: 'Key for the feed eia', isSecret: true },
] as const satisfies readonly Setting[];

export type SettingName = (typeof SETTINGS)[number]['env'];

/** `OPENPIT_DATA_DIR` ↔ `--data-dir` */
export function flagOf(env: string): string {
  return env.slice('OPENPIT_'.length).toLowerCase().replaceAll('_', '-');
}

/** A shorter admin token can be guessed. */
export const ADMIN_TOKEN_CHARACTERS_MIN = 16;

/** A setting that cannot be used. The message names it, and is all the operator needs. */
export class ConfigError extends Error {}

/** Reads the settings; flags win over the environment. */
export function readConfig(
  env: Record<string, string | undefined>,
  flags: Record<string, string | undefined>,
): Config {
  const given = (name: SettingName): string => (flags[flagOf(name)] ?? env[name] ?? '').trim();
  const text = (name: SettingName): string =>
    given(name) || SETTINGS.find((one) => one.env === name)!.default;
  const whole = (name: SettingName, min: number, max: number): number => {
    const value = Number(text(name));
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max} (it is "${text(name)}").`);
  };
  const list = (name: SettingName): string[] =>
    text(name)
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');

  const secrets: Record<string, string> = {};
  for (const setting of SETTINGS) {
    const value = 'isSecret' in setting ? text(setting.env) : '';
    if (value !== '') secrets[setting.env] = value;
  }
  const dataDir = text('OPENPIT_DATA_DIR');
  const url = text('OPENPIT_DATABASE_URL');
  if (url !== '' && !/^(postgres(ql)?|sqlite):/.test(url)) {
    throw new ConfigError('OPENPIT_DATABASE_URL must begin with postgres:// or sqlite://.');
  }
  return Object.freeze({
    host: text('OPENPIT_HOST'),
    port: whole('OPENPIT_PORT', 0, 65_535),
    tls: readTls(text('OPENPIT_TLS_CERT'), text('OPENPIT_TLS_KEY')),
    dataDir,
    databaseUrl: url === '' ? join(dataDir, 'openpit.db') : url,
    readUrl: isPostgresUrl(url) ? readStandbyUrl(text('OPENPIT_READ_URL')) : undefined,
    databaseWaitSeconds: whole('OPENPIT_DATABASE_WAIT_SECONDS', 0, 3_600),
    databaseGiven: url !== '',
    ledgerGiven: url !== '' || given('OPENPIT_DATA_DIR') !== '',
    demo: readDemo(text('OPENPIT_DEMO')),
    mounts: readMounts(list('OPENPIT_MOUNTS')),
    trustedProxies: readAddresses('OPENPIT_TRUSTED_PROXIES', list('OPENPIT_TRUSTED_PROXIES')),
    adminToken: text('OPENPIT_ADMIN_TOKEN') || undefined,
    publicPlan: text('OPENPIT_PUBLIC_PLAN') || undefined,
    webhookUrl: readUrl('OPENPIT_WEBHOOK_URL', text('OPENPIT_WEBHOOK_URL')),
    webhookSecret: text('OPENPIT_WEBHOOK_SECRET') || undefined,
    failedKeysPerMinute: whole('OPENPIT_FAILED_KEYS_PER_MINUTE', 1, 1_000_000),
    retention: Object.freeze({
      // 6: usage is kept for longer than any of its leases, which are settled for good after three months.
      usageMonths: whole('OPENPIT_KEEP_USAGE_MONTHS', 6, 1_200),
      keysDays: whole('OPENPIT_KEEP_KEYS_DAYS', 1, 36_500),
      importsDays: whole('OPENPIT_KEEP_IMPORTS_DAYS', 1, 36_500),
    }),
    historyMb: whole('OPENPIT_HISTORY_MB', 1, 1_000_000),
    cacheMb: whole('OPENPIT_CACHE_MB', 32, 1_000_000),
    drainSeconds: whole('OPENPIT_DRAIN_SECONDS', 0, 3_600),
    processes: whole('OPENPIT_PROCESSES', 1, 256),
    logLevel: readLogLevel(text('OPENPIT_LOG_LEVEL')),
    accessLog: text('OPENPIT_ACCESS_LOG') || undefined,
    secrets: Object.freeze(secrets),
    acceptClock: false,
    unknownSettings: unknownSettingsIn(env),
    warnings: [
      ...warningsOf(env, text('OPENPIT_ADMIN_TOKEN')),
      ...(text('OPENPIT_READ_URL') !== '' && !isPostgresUrl(url)
        ? ['OPENPIT_READ_URL has no effect: OPENPIT_DATABASE_URL is not PostgreSQL']
        : []),
    ],
  });
}

/** The same, with the default for each setting that cannot be used, and what is wrong with those. */
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

function namesIn(message: string): SettingName[] {
  return SETTINGS.map(({ env }) => env).filter((env) => new RegExp(`\\b${env}\\b`).test(message));
}

/** A name that is no setting is most likely a slip, but other programs may set names like ours. */
function unknownSettingsIn(env: Record<string, string | undefined>): UnknownSetting[] {
  const withoutPrefix = (name: string) => name.slice('OPENPIT_'.length);
  const known = SETTINGS.map((setting) => withoutPrefix(setting.env));
  return Object.keys(env)
    .filter((name) => name.startsWith('OPENPIT_') && !known.includes(withoutPrefix(name)))
    .map((name) => {
      const [nearest] = nearestCodes(withoutPrefix(name).toUpperCase(), known, 1);
      return { name, meant: nearest && `OPENPIT_${nearest}` };
    });
}

function warningsOf(env: Record<string, string | undefined>, token: string): string[] {
  const warnings = unknownSettingsIn(env).map(
    ({ name, meant }) =>
      `${name} is not a setting and has no effect${meant ? `; did you mean ${meant}?` : ''}`,
  );
  if (token !== '' && token.length < ADMIN_TOKEN_CHARACTERS_MIN)
    warnings.push(
      `OPENPIT_ADMIN_TOKEN has fewer than ${ADMIN_TOKEN_CHARACTERS_MIN} characters: choose a longer one`,
    );
  return warnings;
}

function readStandbyUrl(text: string): string | undefined {
  if (text === '' || isPostgresUrl(text)) return text || undefined;
  throw new ConfigError('OPENPIT_READ_URL must begin with postgres://.');
}

function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

function readDemo(text: string): Config['demo'] {
  if (text === '') return 'auto';
  if (/^(true|1|yes|on)$/i.test(text)) return 'on';
  if (/^(false|0|no|off)$/i.test(text)) return 'off';
  throw new ConfigError(`OPENPIT_DEMO must be true or false (it is "${text}").`);
}

function readTls(cert: string, key: string): TlsFiles | undefined {
  if ((cert === '') !== (key === ''))
    throw new ConfigError('OPENPIT_TLS_CERT and OPENPIT_TLS_KEY must be set together.');
  return cert === '' ? undefined : Object.freeze({ cert, key });
}

function readMounts(mounts: readonly string[]): string[] {
  for (const mount of mounts) {
    if (!/^\/([A-Za-z0-9._~-]+(\/[A-Za-z0-9._~-]+)*)?$/.test(mount)) {
      throw new ConfigError(`OPENPIT_MOUNTS must be paths such as /,/v1 ("${mount}" is none).`);
    }
  }
  if (mounts.length === 0)
    throw new ConfigError('OPENPIT_MOUNTS must name at least one path, for example /.');
  return mounts.map((mount) => (mount === '/' ? '' : mount));
}

function readAddresses(name: string, entries: readonly string[]): readonly string[] {
  const wrong = entries.find((entry) => !isAddressOrRange(entry));
  if (wrong === undefined) return entries;
  throw new ConfigError(
    `${name} must be addresses and ranges such as 127.0.0.1,10.0.0.0/8 ("${wrong}" is neither).`,
  );
}

function readUrl(name: string, text: string): string | undefined {
  if (text === '' || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)))
    return text || undefined;
  throw new ConfigError(`${name} must be a URL such as https://example.com/hook.`);
}

function readLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((one) => one === text.toLowerCase());
  if (!level)
    throw new ConfigError(`OPENPIT_LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')} (it is "${text}").`);
  return level;
}
