import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alarmKey, type DeliveredPost } from '../ledger/operations/alarms.ts';

const SUFFIX = '.json';

/**
 * Posts about alarms that the ledger could not record, until it can: one file for each alarm, with the newest post. All
 * processes with the data folder share them, so the next start finds those of a process that has ended.
 */
export class UnstoredPosts {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  save(post: DeliveredPost): void {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const path = this.#pathOf(post);
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, JSON.stringify(post), { mode: 0o600 });
    renameSync(unfinished, path);
  }

  list(): DeliveredPost[] {
    return this.#names().flatMap((name) => {
      try {
        return JSON.parse(readFileSync(join(this.#dir, name), 'utf8')) as DeliveredPost;
      } catch {
        return []; // another process has just deleted it
      }
    });
  }

  delete(post: DeliveredPost): void {
    rmSync(this.#pathOf(post), { force: true });
  }

  #names(): string[] {
    try {
      return readdirSync(this.#dir).filter((name) => name.endsWith(SUFFIX));
    } catch {
      return []; // nothing was ever saved
    }
  }

  /** A subject may contain any characters. */
  #pathOf({ alarm }: DeliveredPost): string {
    const hash = new Bun.CryptoHasher('sha256').update(alarmKey(alarm)).digest('hex');
    return join(this.#dir, `${hash.slice(0, 16)}${SUFFIX}`);
  }
}
