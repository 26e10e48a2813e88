import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSpoolFile, parseSpoolFileName } from './spool-file.ts';
import { readOwner } from './spool-record.ts';

/** The number of leases whose counts the ledger has not acknowledged. Only reads. */
export function countUnsettled(dir: string): number {
  if (!existsSync(dir)) return 0;
  return readdirSync(dir)
    .filter((name) => parseSpoolFileName(name) !== undefined)
    .flatMap((name) => openSpoolFile(join(dir, name))?.records ?? [])
    .filter((record) => readOwner(record) !== 'empty').length;
}
