import type { Tick } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import type { Strand } from '../bars.ts';

export interface NewTick extends Tick {
  symbolId: number;
}

/** A tick as the ledger keeps it. */
export interface LedgerTick extends NewTick {
  /** The trade date it belongs to. */
  day: Day;
  sourceId: number;
  revision: number;
}

/** One strand of one symbol on one trade date. */
export interface StrandDay {
  symbolId: number;
  strand: Strand;
  day: Day;
}

export function toTick(row: readonly unknown[]): LedgerTick {
  return {
    symbolId: Number(row[0]),
    sourceId: Number(row[1]),
    id: String(row[2]),
    day: Number(row[3]),
    at: Number(row[4]),
    received: Number(row[5]),
    price: Number(row[6]),
    revision: Number(row[7]),
  };
}
