import { hostname } from 'node:os';

/** A name for operators: the machine and the process id. */
export function processName(): string {
  return `${hostname()}/${process.pid}`;
}
