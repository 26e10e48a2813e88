import { hostname } from 'node:os';
import type { Config } from '../../config.ts';
import { isLoopback } from '../../gate/addresses.ts';
import { adviceOn } from '../../ledger/engine/advice.ts';
import { isPermissionDenied } from '../../ledger/engine/errors.ts';
import { hostOf, hostUrls } from '../../ledger/engine/postgres/hosts/host-urls.ts';
import { type PostgresFacts, readPostgresFacts } from '../../ledger/inspection/postgres-facts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { SILENT_MS } from '../../ledger/operations/replicas.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { plural } from '../../runtime/plural.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** The oldest version that the tests run on. */
const VERSION_MIN = 150_000;

/** Connections of one process for requests, metering and point-in-time reads, and of one data folder for its feeds. */
const CONNECTIONS_PER_PROCESS = 12;
const CONNECTIONS_PER_FOLDER = 4;

export async function checkPostgres(ledger: Ledger, config: Config): Promise<Finding[]> {
  const facts = await readPostgresFacts(ledger.engine);
  return [
    version(facts),
    ...writable(facts),
    privileges(facts),
    ...(await connections(facts, ledger, config)),
    ...encryption(facts, config),
  ];
}

/** Suggests a fix by SQLSTATE. */
export function unreachable(error: unknown, { databaseUrl }: Config): Finding {
  const text = `PostgreSQL at ${hostUrls(databaseUrl).map(hostOf).join(', ')} cannot be used: ${messageOf(error)}`;
  const advice = adviceOn(error);
  if (advice !== undefined) return problem('ledger.reachable', text, advice);
  if (isPermissionDenied(error))
    return problem(
      'ledger.privileges',
      text,
      'grant the privileges that docs/operating.md lists under "Database privileges"',
    );
  return problem(
    'ledger.reachable',
    text,
    'start PostgreSQL; check host, port and TLS in OPENPIT_DATABASE_URL, and any firewall',
  );
}

function version({ version, versionNumber }: PostgresFacts): Finding {
  if (versionNumber >= VERSION_MIN) return ok('ledger.version', `PostgreSQL ${version}`);
  const text = `PostgreSQL ${version} is older than the versions that Openpit is tested on`;
  return warning('ledger.version', text, `upgrade to ${VERSION_MIN / 10_000} or later`);
}

function writable({ isStandby, isReadOnly, user, database }: PostgresFacts): Finding[] {
  if (isStandby) {
    const fix = 'set OPENPIT_DATABASE_URL to the primary or list all hosts in it, or promote this server';
    return [problem('ledger.writable', 'this server is a standby, which does not accept writes', fix)];
  }
  if (!isReadOnly) return [];
  const text = `the database ${database} is set to read-only for ${user}`;
  return [problem('ledger.writable', text, `ALTER DATABASE ${database} RESET default_transaction_read_only`)];
}

function privileges({ lacking, user }: PostgresFacts): Finding {
  if (lacking.length === 0) return ok('ledger.privileges', `${user} may read and write every table`);
  const tables = lacking.map(({ table, privileges }) => `${table} (${privileges.join(', ')})`);
  const shown = `${tables.slice(0, 3).join(', ')}${tables.length > 3 ? ` and ${tables.length - 3} more` : ''}`;
  return problem(
    'ledger.privileges',
    `${user} lacks privileges on ${shown}`,
    `as the owner: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${user}`,
  );
}

async function connections(facts: PostgresFacts, ledger: Ledger, config: Config): Promise<Finding[]> {
  const { isPooled, connectionsMax, connectionsUsed } = facts;
  if (isPooled) return [ok('ledger.connections', 'connections go through a pooler in transaction mode')];
  const { processes, folders } = await expectedProcesses(ledger, config);
  const needed = processes * CONNECTIONS_PER_PROCESS + folders * CONNECTIONS_PER_FOLDER;
  const fix =
    'raise max_connections (or the limit of the user or database), or use a pooler in transaction mode';
  const users = `${plural(processes, 'process', 'processes')} with ${plural(folders, 'data folder')}`;
  if (needed > connectionsMax) {
    const text = `up to ${needed} connections for ${users}, but PostgreSQL allows ${connectionsMax}`;
    return [problem('ledger.connections', text, fix)];
  }
  if (connectionsUsed > connectionsMax * 0.8) {
    const text = `${connectionsUsed} of ${connectionsMax} connections of PostgreSQL are in use`;
    return [warning('ledger.connections', text, fix)];
  }
  return [ok('ledger.connections', `up to ${needed} of ${connectionsMax} connections for ${users}`)];
}

/** The larger of: the running processes, or those on other machines plus those of these settings. */
async function expectedProcesses(ledger: Ledger, config: Config) {
  const { now, replicas } = await ledger.replicas.list();
  const live = replicas.filter(({ seen }) => now - seen <= SILENT_MS);
  const elsewhere = live.filter(({ name }) => !name.startsWith(`${hostname()}/`));
  const hosts = new Set(elsewhere.map(({ name }) => name.split('/')[0]));
  return {
    processes: Math.max(live.length, elsewhere.length + config.processes),
    folders: Math.max((await ledger.machines.live()).length, hosts.size + 1),
  };
}

function encryption({ isEncrypted, isPooled }: PostgresFacts, { databaseUrl }: Config): Finding[] {
  const hosts = hostUrls(databaseUrl).map((url) => new URL(url).hostname);
  const remote = hosts.find((host) => host !== '' && host !== 'localhost' && !isLoopback(host));
  if (isEncrypted || isPooled || remote === undefined) return [];
  return [
    warning(
      'ledger.encryption',
      `the connection to ${remote} has no TLS: the password and all data are sent in plain text`,
      'add ?sslmode=require to OPENPIT_DATABASE_URL (verify-full with a certificate)',
    ),
  ];
}
