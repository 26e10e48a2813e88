import { readFileSync } from 'node:fs';

/** Left for everything else: the ledger's files, connections to PostgreSQL and to feeds, modules, threads. */
const RESERVED = 200;

/** Where the system does not say how many descriptors there are. Linux says. */
const UNKNOWN = 4_000;

/**
 * How many connections the process may hold. Bun ends the whole process when it finds no descriptor for a file of its own, so
 * clients must never have them all.
 */
export function connectionsMax(limits: string = limitsOfSystem()): number {
  const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? UNKNOWN);
  return Math.max(Math.floor(soft / 2), soft - RESERVED);
}

function limitsOfSystem(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
