import type { Tick } from '../../market/bar.ts';
import type { Day } from '../../market/day.ts';
import { asNumber, asText, type Cell } from '../engine/rows.ts';

export interface NewTick extends Tick {
  symbolId: number;
}

/** A stored tick. */
export interface LedgerTick extends NewTick {
  /** The trade date it belongs to. */
  day: Day;
  sourceId: number;
  revision: number;
}

export function toTick(row: readonly Cell[]): LedgerTick {
  return {
    symbolId: asNumber(row[0]),
    sourceId: asNumber(row[1]),
    id: asText(row[2]),
    day: asNumber(row[3]),
    at: asNumber(row[4]),
    received: asNumber(row[5]),
    price: asNumber(row[6]),
    revision: asNumber(row[7]),
  };
}
