import { LOG_LEVELS } from '../runtime/log/log.ts';

/** A setting: an environment variable, and a flag of the same name. The README's table is generated from these. */
export interface Setting {
  env: string;
  default: string;
  help: string;
  /** An API key of a provider, which looks it up by its name. */
  isSecret?: true;
}

export const SETTINGS = [
  { env: 'OPENPIT_HOST', default: '127.0.0.1', help: 'Address to listen on; 0.0.0.0 for all interfaces' },
  {
    env: 'OPENPIT_HTTP',
    default: 'openpit',
    help: 'HTTP server: openpit, or bun for Bun.serve, which is slower and less strict and needs a restart for a renewed certificate',
  },
  { env: 'OPENPIT_PORT', default: '8080', help: 'Port to listen on; 0 for any free port' },
  {
    env: 'OPENPIT_TLS_CERT',
    default: '',
    help: 'Certificate file with its chain (PEM): serves HTTPS instead of HTTP. Reloaded when it changes',
  },
  {
    env: 'OPENPIT_TLS_KEY',
    default: '',
    help: 'Private key file of that certificate (PEM, without a passphrase)',
  },
  {
    env: 'OPENPIT_DATA_DIR',
    default: './data',
    help: 'Folder for the SQLite ledger, the spool and the demo key',
  },
  {
    env: 'OPENPIT_DATABASE_URL',
    default: '',
    help: 'PostgreSQL URL (postgres://…). Of several hosts (postgres://…@one:5432,two:5432/db) the primary is used. Unset: SQLite in the data folder',
  },
  {
    env: 'OPENPIT_READ_URL',
    default: '',
    help: 'URL of a standby of that PostgreSQL (or of several) for point-in-time requests. Unset, or while it is unreachable or behind: the primary',
  },
  {
    env: 'OPENPIT_DATABASE_WAIT_SECONDS',
    default: '60',
    help: 'How long a start waits for a PostgreSQL that cannot be reached yet',
  },
  {
    env: 'OPENPIT_DEMO',
    default: '',
    help: 'true: simulated prices and a demo key. false: neither. Unset: only on a new SQLite ledger',
  },
  {
    env: 'OPENPIT_MOUNTS',
    default: '/,/v1,/v2,/v3',
    help: 'Paths under which the API is served; the web page needs /. The last part of a path names the version of the interface, or it is assigned: /v1.0/commodity=v2',
  },
  {
    env: 'OPENPIT_TRUSTED_PROXIES',
    default: '',
    help: 'Addresses or CIDR ranges of proxies whose X-Forwarded-For is trusted; each must overwrite what clients send',
  },
  {
    env: 'OPENPIT_ADMIN_TOKEN',
    default: '',
    help: 'Token for the operator’s page, for pushing prices, and for /metrics, which then requires it',
  },
  {
    env: 'OPENPIT_PUBLIC_PLAN',
    default: '',
    help: 'Plan of the key that the page gives to every visitor, limited per address. Unset: visitors get no key',
  },
  {
    env: 'OPENPIT_WEBHOOK_URL',
    default: '',
    help: 'URL that receives alarms, and an event when an account reaches 75, 90 or 100 % of its quota',
  },
  {
    env: 'OPENPIT_WEBHOOK_SECRET',
    default: '',
    help: 'Secret that signs what is posted to the webhook. Unset: a generated one, shown by openpit webhook secret',
  },
  {
    env: 'OPENPIT_FAILED_KEYS_PER_MINUTE',
    default: '60',
    help: 'Wrong keys or tokens that an address may send per minute before it gets 429; valid ones are always accepted',
  },
  {
    env: 'OPENPIT_KEEP_USAGE_MONTHS',
    default: '25',
    help: 'Months of usage to keep, including the current one',
  },
  {
    env: 'OPENPIT_KEEP_KEYS_DAYS',
    default: '90',
    help: 'Days to keep keys that were revoked or have expired',
  },
  {
    env: 'OPENPIT_KEEP_IMPORTS_DAYS',
    default: '365',
    help: 'Days during which an import can be undone',
  },
  {
    env: 'OPENPIT_KEEP_AUDIT_DAYS',
    default: '730',
    help: 'Days to keep the audit log',
  },
  {
    env: 'OPENPIT_MINUTE_BARS_DAYS',
    default: '90',
    help: 'Days to keep minute bars. Hourly bars are kept without limit',
  },
  {
    env: 'OPENPIT_HISTORY_MB',
    default: '512',
    help: 'Memory for price history, in MB; the least recently used is evicted',
  },
  {
    env: 'OPENPIT_CACHE_MB',
    default: '448',
    help: 'Memory for all caches of a process, in MB: responses, keys, texts, header lines',
  },
  { env: 'OPENPIT_DRAIN_SECONDS', default: '10', help: 'How long a stop waits for requests in progress' },
  {
    env: 'OPENPIT_PROCESSES',
    default: '1',
    help: 'Number of processes that share the port, to use every core of a machine',
  },
  {
    env: 'OPENPIT_LOG_LEVEL',
    default: 'info',
    help: `One of ${LOG_LEVELS.join(', ')}; debug logs every request`,
  },
  {
    env: 'OPENPIT_ACCESS_LOG',
    default: '',
    help: 'File that gets one line of JSON per request, without keys; - for standard output. Unset: no access log',
  },
  { env: 'OPENPIT_FRED_API_KEY', default: '', help: 'API key for the feed fred', isSecret: true },
  { env: 'OPENPIT_EIA_API_KEY', default: '', help: 'API key for the feed eia', isSecret: true },
] as const satisfies readonly Setting[];

export type SettingName = (typeof SETTINGS)[number]['env'];

/** `OPENPIT_DATA_DIR` ↔ `--data-dir` */
export function flagOf(env: string): string {
  return env.slice('OPENPIT_'.length).toLowerCase().replaceAll('_', '-');
}
