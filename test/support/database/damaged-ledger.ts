import { Database } from 'bun:sqlite';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** Damages the pages of one table of a SQLite file under its users, and repairs them. */
export class DamagedTable {
  readonly #path: string;
  readonly #offsets: readonly number[];
  readonly #pageBytes: number;
  readonly #whole: Buffer[];

  constructor(path: string, table: string) {
    this.#path = path;
    const database = new Database(path);
    database.run('PRAGMA busy_timeout = 5000');
    database.run('PRAGMA wal_checkpoint(TRUNCATE)'); // the pages are in the file, not in the log
    this.#pageBytes = Number(database.query('PRAGMA page_size').values()[0]![0]);
    const root = database.query('SELECT rootpage FROM sqlite_schema WHERE name = ?').values(table)[0]![0];
    database.close();
    this.#offsets = [(Number(root) - 1) * this.#pageBytes];
    const file = openSync(path, 'r');
    this.#whole = this.#offsets.map((offset) => {
      const page = Buffer.alloc(this.#pageBytes);
      readSync(file, page, 0, this.#pageBytes, offset);
      return page;
    });
    closeSync(file);
  }

  damage(): void {
    this.#write(() => Buffer.alloc(this.#pageBytes, 0xa5));
  }

  repair(): void {
    this.#write((i) => this.#whole[i]!);
  }

  #write(pageOf: (i: number) => Buffer): void {
    const file = openSync(this.#path, 'r+');
    for (const [i, offset] of this.#offsets.entries()) writeSync(file, pageOf(i), 0, this.#pageBytes, offset);
    closeSync(file);
  }
}
