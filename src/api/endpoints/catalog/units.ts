import type { Board } from '../../../board/board.ts';
import { CONVERTED_DIGITS, roundTo } from '../../../market/ratio.ts';
import type { SymbolRecord } from '../../../market/symbol.ts';
import { unitFactor, unitsFor } from '../../../market/unit.ts';
import type { OwnerEndpoint } from '../../model/endpoint.ts';
import { findSymbols, readSymbolSet } from '../../params/parameters.ts';

/** Four digits more than a converted price has: who multiplies with it gets the same price. */
const FACTOR_DIGITS = CONVERTED_DIGITS + 4;

/** GET /units: the units that prices of these symbols can be asked for in, their own first. It is free. */
export function unitsEndpoint(board: Board): OwnerEndpoint {
  return {
    kind: 'owner',
    name: 'units',
    path: '/units',
    actions: {
      async GET({ query, customer, now }) {
        const { symbols } = findSymbols(readSymbolSet(query, customer.plan), board, now);
        const units = symbols.map(({ code, series }) => [code, unitRecords(series.symbol)]);
        return { success: true, units: Object.fromEntries(units) };
      },
    },
  };
}

export interface UnitRecord {
  unit: string;
  factor: number;
}

/** By symbol. The factors are exact quotients, which take 0.1 ms for each symbol. A symbol that changes is another object. */
const known = new WeakMap<SymbolRecord, readonly UnitRecord[]>();

export function unitRecords(symbol: SymbolRecord): readonly UnitRecord[] {
  return known.getOrInsertComputed(symbol, () =>
    unitsFor(symbol).map((unit) => ({ unit, factor: factorOf(symbol, unit) })),
  );
}

/** What a price per the symbol's own unit is multiplied by. */
function factorOf(symbol: SymbolRecord, unit: string): number {
  const factor = unitFactor(symbol, unit);
  return factor ? Number(roundTo(factor, FACTOR_DIGITS)) : 1;
}
