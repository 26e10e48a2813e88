import { Database } from 'bun:sqlite';

/** What SQLite finds wrong with a file; nothing when it is sound. It reads every page: seconds for each gigabyte. */
export function findSqliteDamage(path: string): string[] {
  const database = new Database(path, { readonly: true });
  try {
    database.run('PRAGMA busy_timeout = 5000');
    const lines = database.query('PRAGMA quick_check(5)').values().flat().map(String);
    return lines.filter((line) => line !== 'ok').flatMap((line) => line.split('\n'));
  } finally {
    database.close();
  }
}
