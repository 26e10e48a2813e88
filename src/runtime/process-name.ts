import { hostname } from 'node:os';

/** Names this process to the operator: its machine and its process id. */
export function processName(): string {
  return `${hostname()}/${process.pid}`;
}
