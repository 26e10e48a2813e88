import { statSync } from 'node:fs';
import { codeOf } from '../../runtime/log/log.ts';

/** Unlike `existsSync`, it does not call a file missing that this user may not look for: it throws `EACCES`. */
export function fileExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}
