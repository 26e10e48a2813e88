import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../../../config.ts';
import { findSqliteDamage } from '../../../ledger/inspection/sqlite-damage.ts';
import { messageOf } from '../../../runtime/log/log.ts';
import { ledgerPath } from '../../framework/ledger-path.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** A checkpoint is made at 4 MB. A log this long is held back by a reader, and slows every start. */
const LOG_BYTES_MAX = 256 * 1024 * 1024;

/** Whether the file is there, and whether this user can read and write it. */
export function checkFile(config: Config): { findings: Finding[]; isMissing: boolean } {
  const path = ledgerPath(config)!;
  if (!existsSync(path)) {
    const text = `there is no ledger at ${path}`;
    const fix = 'the first start creates it. If there should be one, set OPENPIT_DATA_DIR to its folder';
    return { findings: [warning('ledger.present', text, fix)], isMissing: true };
  }
  const findings = [path, dirname(path)].flatMap((one) => {
    try {
      accessSync(one, constants.R_OK | constants.W_OK);
      return [];
    } catch (error) {
      const fix = `run this as the user of the service or as root; the service itself needs it: chown --reference=${dirname(path)} ${path}`;
      return problem('ledger.permissions', `this user may not write to ${one}: ${messageOf(error)}`, fix);
    }
  });
  return { findings, isMissing: false };
}

export function checkPages(config: Config): Finding[] {
  const path = ledgerPath(config)!;
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const log =
    logBytes > LOG_BYTES_MAX
      ? [
          warning(
            'ledger.log',
            `the log of the ledger has ${Math.round(logBytes / 1_048_576)} MB`,
            'look for a program that keeps a transaction open on the file; restarting the service shortens the log',
          ),
        ]
      : [];
  return [...log, ...checkDamage(path)];
}

function checkDamage(path: string): Finding[] {
  const fix = 'check the disk, and restore a backup: openpit restore FILE';
  try {
    const damage = findSqliteDamage(path);
    if (damage.length === 0) return [ok('ledger.pages', 'no page of the SQLite file is damaged')];
    return [problem('ledger.pages', `the SQLite file is damaged: ${damage.slice(0, 3).join('; ')}`, fix)];
  } catch (error) {
    return [problem('ledger.pages', `the SQLite file cannot be checked: ${messageOf(error)}`, fix)];
  }
}
