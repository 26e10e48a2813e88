import type { Board } from '../../board/board.ts';
import { CONVERTED_DIGITS, roundTo } from '../../market/ratio.ts';
import { unitFactor, unitsFor } from '../../market/unit.ts';
import type { OwnerEndpoint } from '../endpoint.ts';
import { findSymbols, readBasket } from '../parameters.ts';

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
        const { symbols } = findSymbols(readBasket(query, customer.plan), board, now);
        const units = symbols.map(({ code, series: { symbol } }) => [
          code,
          unitsFor(symbol).map((unit) => ({ unit, factor: factorOf(symbol, unit) })),
        ]);
        return { success: true, units: Object.fromEntries(units) };
      },
    },
  };
}

/** What a price per the symbol's own unit is multiplied by. */
function factorOf(symbol: Parameters<typeof unitsFor>[0], unit: string): number {
  const factor = unitFactor(symbol, unit);
  return factor ? Number(roundTo(factor, FACTOR_DIGITS)) : 1;
}
