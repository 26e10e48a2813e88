/** Checks a SQLite file in a worker thread, because a large file takes minutes. */
import { lowerPriority } from '../../runtime/threads/lower-priority.ts';
import { findSqliteDamage } from './sqlite-damage.ts';

declare const self: Worker;

lowerPriority();
self.onmessage = ({ data: path }: MessageEvent<string>) => self.postMessage(isSound(path));

function isSound(path: string): boolean {
  try {
    return findSqliteDamage(path).length === 0;
  } catch {
    return false;
  }
}
