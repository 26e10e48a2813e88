import type { Config } from '../../config.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { isPostgres, ledgerPath } from '../../ledger/open-engine.ts';
import { SCHEMA_VERSION } from '../../ledger/schema/migrations.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkHosts, checkStandbys } from './hosts.ts';
import { checkPostgres, unreachable } from './postgres.ts';
import { checkFile, checkPages } from './sqlite.ts';

/** The opened ledger, if it can be read, and the findings on the way. */
export interface InspectedLedger {
  findings: readonly Finding[];
  /** Undefined when it is unreachable, damaged or of another schema. */
  ledger: Ledger | undefined;
}

/** Opens the ledger read-only: safe beside a running server, and on a damaged ledger. */
export async function inspectLedger(config: Config, clock: Clock): Promise<InspectedLedger> {
  const { databaseUrl } = config;
  const findings: Finding[] = [];
  const onPostgres = isPostgres(databaseUrl);
  if (!onPostgres) {
    const file = checkFile(config);
    if (file.isMissing || file.findings.some(({ status }) => status === 'problem'))
      return { findings: file.findings, ledger: undefined };
    findings.push(...file.findings, ...checkPages(config));
  }
  let ledger: Ledger | undefined;
  try {
    const { version, pending } = await Ledger.schema(databaseUrl, clock);
    if (onPostgres) findings.push(ok('ledger.reachable', 'PostgreSQL can be reached'));
    if (pending.length > 0) return { findings: [...findings, outdated(version, config)], ledger: undefined };
    findings.push(ok('ledger.schema', `the schema is up to date (${SCHEMA_VERSION})`));
    ledger = await Ledger.openForReading(databaseUrl, clock, 'inspecting');
    if (onPostgres) {
      findings.push(...(await checkHosts(databaseUrl)), ...(await checkPostgres(ledger, config)));
    }
    if (config.readUrl !== undefined) findings.push(...(await checkStandbys(ledger, config.readUrl, clock)));
    return { findings, ledger };
  } catch (error) {
    await ledger?.close();
    return { findings: [...findings, unusable(error, config)], ledger: undefined };
  }
}

function outdated(version: number, config: Config): Finding {
  if (version === 0) {
    const path = ledgerPath(config);
    const advice =
      path === undefined
        ? 'check the database in OPENPIT_DATABASE_URL'
        : 'set OPENPIT_DATA_DIR to its folder';
    return warning(
      'ledger.schema',
      `${path ?? 'the database'} holds no ledger yet`,
      `the first start or openpit migrate creates it. If there should be one, ${advice}`,
    );
  }
  return warning(
    'ledger.schema',
    `the ledger has schema ${version}, but this program needs ${SCHEMA_VERSION}`,
    'back it up, then run openpit migrate (openpit serve also migrates it at its start)',
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
