/** Checks a SQLite file in a worker thread. It reads every page, which takes minutes for a large file. */
import { Database } from 'bun:sqlite';
import { lowerPriority } from '../../../runtime/threads/lower-priority.ts';

declare const self: Worker;

lowerPriority();
self.onmessage = ({ data: path }: MessageEvent<string>) => self.postMessage(isSound(path));

function isSound(path: string): boolean {
  try {
    const database = new Database(path, { readonly: true });
    try {
      return database.query('PRAGMA quick_check(1)').values()[0]?.[0] === 'ok';
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}
