import type { SpoolRecord } from '../../src/gate/spool/spool.ts';
import { addCount } from '../../src/gate/spool/spool-record.ts';

/** Counts units in a record, as its lease does. */
export function addUnits(record: SpoolRecord, counter: number, units: number): void {
  addCount(record.words, record.countsAt + counter, units);
}
