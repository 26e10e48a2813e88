import { Database } from 'bun:sqlite';
import { codeOf } from '../../../runtime/log/log.ts';

/**
 * Whether another process has a ledger open: in WAL mode, it holds a shared lock on the file for as long. A file that is missing
 * or not a database is not in use.
 */
export function isOpenElsewhere(path: string): boolean {
  let database: Database | undefined;
  try {
    database = new Database(path, { readwrite: true, create: false });
    database.run('PRAGMA locking_mode = EXCLUSIVE'); // takes effect with the first read
    database.query('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return codeOf(error).startsWith('SQLITE_BUSY');
  } finally {
    database?.close();
  }
}
