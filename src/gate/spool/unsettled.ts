import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSpoolFile, parseSpoolFileName, type SpoolFile } from './spool-file.ts';
import { readOwner } from './spool-record.ts';

/** The number of leases whose counts the ledger has not acknowledged. Only reads. */
export function countUnsettled(dir: string): number {
  if (!existsSync(dir)) return 0;
  return readdirSync(dir)
    .filter((name) => parseSpoolFileName(name) !== undefined)
    .flatMap((name) => openSpoolFile(join(dir, name)) ?? [])
    .reduce((sum, file) => sum + usedRecords(file), 0);
}

function usedRecords(file: SpoolFile): number {
  let used = 0;
  for (let index = 0; index < file.count; index++) if (readOwner(file.record(index)) !== 'empty') used++;
  return used;
}
