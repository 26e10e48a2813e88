import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../config/values.ts';
import { codeOf } from '../runtime/log/log.ts';

/** Throws unless this user can append to the access log, or create it. A pipe is not opened: without a reader, that would wait. */
export function requireAccessLog(path: string | undefined): void {
  if (path === undefined || path === '-') return;
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file?.isDirectory()) throw unusable(path, 'it is a folder');
    accessSync(file ? path : `${dirname(path)}/.`, constants.W_OK);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = codeOf(error);
    throw unusable(path, REASONS[code] ?? `it cannot be written (${code || String(error)})`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is a file where its folder should be',
  EACCES: 'this user has no permission to write it',
  EROFS: 'it is on a read-only file system',
};

function unusable(path: string, why: string): ConfigError {
  return new ConfigError(`OPENPIT_ACCESS_LOG (${path}) cannot be used: ${why}.`);
}
