import { systemClock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { isPostgres } from '../../ledger/engine.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { SCHEMA_VERSION } from '../../ledger/migrations.ts';
import { messageOf } from '../../log.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkPostgres, unreachable } from './postgres.ts';
import { checkFile, checkPages } from './sqlite.ts';

/** A ledger that can be read, where there is one, and what was found on the way to it. */
export interface InspectedLedger {
  findings: readonly Finding[];
  /** Undefined when it is away, damaged or of another schema. */
  ledger: Ledger | undefined;
}

/** Opens the ledger for reading and nothing else: it works beside a server, and changes nothing that is broken. */
export async function inspectLedger(config: Config): Promise<InspectedLedger> {
  const { databaseUrl } = config;
  const findings: Finding[] = [];
  const onPostgres = isPostgres(databaseUrl);
  if (!onPostgres) {
    const file = checkFile(config);
    if (file.isMissing || file.findings.some(({ status }) => status === 'problem'))
      return { findings: file.findings, ledger: undefined };
    findings.push(...file.findings, ...checkPages(config));
  }
  try {
    const { version, pending } = await Ledger.schema(databaseUrl, systemClock);
    if (onPostgres) findings.push(ok('ledger.reachable', 'PostgreSQL can be reached'));
    if (pending.length > 0) return { findings: [...findings, outdated(version)], ledger: undefined };
    findings.push(ok('ledger.schema', `the schema is up to date (${SCHEMA_VERSION})`));
    const ledger = await Ledger.openForReading(databaseUrl, systemClock);
    if (onPostgres) findings.push(...(await checkPostgres(ledger, config)));
    if (config.readUrl !== undefined) findings.push(await checkStandby(ledger, config.readUrl));
    return { findings, ledger };
  } catch (error) {
    return { findings: [...findings, unusable(error, config)], ledger: undefined };
  }
}

/** A standby for point-in-time requests. Without it the primary answers them. */
async function checkStandby(ledger: Ledger, readUrl: string): Promise<Finding> {
  try {
    const standby = await Ledger.openForReading(readUrl, systemClock);
    const [ours, theirs] = [await ledger.head(), await standby.head()];
    await standby.close();
    if (ours.epoch === theirs.epoch)
      return ok('ledger.read_url', 'the standby of OPENPIT_READ_URL can be read');
    const text = 'OPENPIT_READ_URL names another ledger than OPENPIT_DATABASE_URL';
    return problem('ledger.read_url', text, 'point it at a standby of the same server');
  } catch (error) {
    const text = `the standby of OPENPIT_READ_URL cannot be read: ${messageOf(error)}`;
    return warning('ledger.read_url', text, 'start it, or correct or remove the setting');
  }
}

function outdated(version: number): Finding {
  if (version === 0)
    return warning(
      'ledger.schema',
      'the database holds no ledger yet',
      'the first start creates it, or: openpit migrate. If there should be one, OPENPIT_DATABASE_URL names another database',
    );
  return warning(
    'ledger.schema',
    `the ledger has schema ${version}, and this program needs ${SCHEMA_VERSION}`,
    'back it up, then run: openpit migrate (a start of openpit serve does the same)',
  );
}

function unusable(error: unknown, config: Config): Finding {
  const message = messageOf(error);
  if (/run a newer openpit/.test(message))
    return problem('ledger.schema', message, 'install the version that migrated it, or restore a backup');
  if (isPostgres(config.databaseUrl)) return unreachable(error, config);
  return problem(
    'ledger.readable',
    `the ledger cannot be read: ${message}`,
    'restore a backup: openpit restore FILE',
  );
}
