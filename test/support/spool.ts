import { readdirSync } from 'node:fs';
import { COUNTED_ENDPOINTS } from '../../src/gate/endpoints.ts';
import { type Leftover, Spool, type SpoolRecord } from '../../src/gate/spool/spool.ts';
import { addCount, type Owner } from '../../src/gate/spool/spool-record.ts';

/** The spools that one test opens, one after the other or side by side. */
export class OpenedSpools {
  readonly #opened: Spool[] = [];
  /** What they logged. */
  readonly warnings: string[] = [];

  open(dir: string, recordsPerFile = 8, endpoints: readonly string[] = COUNTED_ENDPOINTS): Spool {
    const spool = new Spool({ dir, endpoints, recordsPerFile, warn: (text) => this.warnings.push(text) });
    this.#opened.push(spool);
    return spool;
  }

  close(): void {
    for (const spool of this.#opened.splice(0)) spool.close();
    this.warnings.length = 0;
  }
}

export function ownerOf(n: number): Owner {
  return { accountId: `account-${n}`, period: 202611, leaseId: `lease-${n}`, replica: 'r1' };
}

export function byLease(leftovers: readonly Leftover[]): Record<string, Record<string, number>> {
  return Object.fromEntries(leftovers.map(({ owner, spentBy }) => [owner.leaseId, spentBy]));
}

export function spoolFiles(dir: string): string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.spool'))
    .sort();
}

/** Counts units in a record, as its lease does. */
export function addUnits({ file, index }: SpoolRecord, counter: number, units: number): void {
  addCount(file.words, file.firstCountAt(index) + counter * file.block, units);
}
