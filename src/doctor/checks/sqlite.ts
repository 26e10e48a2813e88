import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../../config.ts';
import { fileExists } from '../../ledger/inspection/file-exists.ts';
import { findSqliteDamage } from '../../ledger/inspection/sqlite-damage.ts';
import { ledgerPath } from '../../ledger/open-engine.ts';
import { messageOf } from '../../runtime/log/log.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Checkpoints run at 4 MB. A longer log means that a reader blocks them, and slows down every start. */
const LOG_BYTES_MAX = 256 * 1024 * 1024;

/** Whether the file exists, and this user can read and write it. */
export function checkFile(config: Config): { findings: Finding[]; isMissing: boolean } {
  const path = ledgerPath(config)!;
  if (isMissing(path)) {
    const text = `there is no ledger at ${path}`;
    const fix = 'the first start creates it. If there should be one, set OPENPIT_DATA_DIR to its folder';
    return { findings: [warning('ledger.present', text, fix)], isMissing: true };
  }
  const findings = [path, dirname(path)].flatMap((one) => {
    try {
      accessSync(one, constants.R_OK | constants.W_OK);
      return [];
    } catch (error) {
      const fix = `run openpit doctor as the user of the service or as root; if the service cannot write it either: chown --reference=${dirname(path)} ${path}`;
      return problem('ledger.permissions', `this user cannot write to ${one}: ${messageOf(error)}`, fix);
    }
  });
  return { findings, isMissing: false };
}

/** A file that this user may not look for is not missing. */
function isMissing(path: string): boolean {
  try {
    return !fileExists(path);
  } catch {
    return false;
  }
}

export function checkPages(config: Config): Finding[] {
  const path = ledgerPath(config)!;
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const log =
    logBytes > LOG_BYTES_MAX
      ? [
          warning(
            'ledger.log',
            `the write-ahead log of the ledger has ${Math.round(logBytes / 1_048_576)} MB`,
            'find the program that keeps a transaction open on the file; restarting the service truncates the log',
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
