import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import type { Actor } from '../../ledger/audit/entry.ts';

/** The actor of a command in the audit log. In a container, the user may have no name. */
export function commandLineUser(): Actor {
  const id = process.getuid?.();
  const name = userName() ?? nameInPasswd(id) ?? `user ${id ?? ''}`.trim();
  return { name: `${name}@${hostname()}`, via: 'cli' };
}

/** Bun takes it from the environment, and says `unknown` where that has no user, as in a container. */
function userName(): string | undefined {
  try {
    const { username } = userInfo();
    return username === 'unknown' ? undefined : username;
  } catch {
    return undefined;
  }
}

function nameInPasswd(id: number | undefined): string | undefined {
  try {
    const users = readFileSync('/etc/passwd', 'utf8').split('\n');
    return users.map((line) => line.split(':')).find((fields) => fields[2] === String(id))?.[0];
  } catch {
    return undefined;
  }
}
