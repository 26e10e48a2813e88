import { statSync } from 'node:fs';

/** Unlike `existsSync`, it does not call a file missing that this user may not look for: it throws `EACCES`. */
export function fileExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw error;
  }
}
