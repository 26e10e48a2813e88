import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSpoolFile, parseSpoolFileName, type SpoolFile } from './spool-file.ts';
import { countIn, readOwner } from './spool-record.ts';

/** The number of leases whose counts the ledger has not acknowledged. Only reads. */
export function countUnsettled(dir: string): number {
  if (!existsSync(dir)) return 0;
  return readdirSync(dir)
    .filter((name) => parseSpoolFileName(name) !== undefined)
    .flatMap((name) => openSpoolFile(join(dir, name)) ?? [])
    .reduce((sum, file) => sum + recordsWithCounts(file), 0);
}

/** A lease without counts has nothing that the ledger could lack. */
function recordsWithCounts(file: SpoolFile): number {
  let found = 0;
  for (let index = 0; index < file.count; index++) {
    if (readOwner(file.ownerArea(index)) === 'empty') continue;
    if (file.endpoints.some((_, counter) => countIn(file.packedCount(index, counter)) !== 0)) found++;
  }
  return found;
}
