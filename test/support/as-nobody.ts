import { join } from 'node:path';
import { openpit } from './program.ts';

const WRAPPER = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
const MAIN = join(import.meta.dir, '..', '..', 'src', 'main.ts');

/** Whether this machine lets the tests run the program as another user: they are root, and that user can read it. */
export const canRunAsNobody =
  process.getuid?.() === 0 &&
  Bun.which('setpriv') !== null &&
  Bun.spawnSync([...WRAPPER, process.execPath, MAIN, '--version']).exitCode === 0;

/** Runs one command as a user without any permission on the files of the tests. */
export function openpitAsNobody(args: readonly string[], settings: Record<string, string>) {
  return openpit(args, settings, undefined, WRAPPER);
}
