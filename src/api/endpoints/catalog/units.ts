import type { Board } from '../../../board/board.ts';
import { CONVERTED_DIGITS, roundTo } from '../../../market/ratio.ts';
import type { SymbolRecord } from '../../../market/symbol.ts';
import { unitFactor, unitsFor } from '../../../market/unit.ts';
import type { OwnerEndpoint } from '../../model/endpoint.ts';
import { currenciesFor } from '../../params/conversion.ts';
import { findSymbols, readSymbolSet } from '../../params/parameters.ts';

/** Four digits more than a converted price, so multiplying by the factor gives the same price. */
const FACTOR_DIGITS = CONVERTED_DIGITS + 4;

/** GET /units: the units that each symbol can be converted to, its own first, and the currencies. Free. */
export function unitsEndpoint(board: Board): OwnerEndpoint {
  return {
    kind: 'owner',
    name: 'units',
    path: '/units',
    actions: {
      async GET({ query, customer, now }) {
        const { plan } = customer;
        const { symbols } = findSymbols(readSymbolSet(query, plan), board, now, {
          symbolsMax: plan.maxSymbols,
          onlyNamed: true,
        });
        const units = symbols.map(({ code, series }) => [code, unitRecords(series.symbol)]);
        const currencies = symbols.map(({ code, series }) => [
          code,
          currenciesFor(series.symbol.currency.code, board.catalog),
        ]);
        return {
          success: true,
          units: Object.fromEntries(units),
          currencies: Object.fromEntries(currencies),
        };
      },
    },
  };
}

export interface UnitRecord {
  unit: string;
  factor: number;
}

/** Cached because exact quotients take 0.1 ms per symbol. A changed symbol is a new object. */
const cache = new WeakMap<SymbolRecord, readonly UnitRecord[]>();

export function unitRecords(symbol: SymbolRecord): readonly UnitRecord[] {
  return cache.getOrInsertComputed(symbol, () =>
    unitsFor(symbol).map((unit) => ({ unit, factor: factorOf(symbol, unit) })),
  );
}

/** The factor from the symbol's own unit to another. */
function factorOf(symbol: SymbolRecord, unit: string): number {
  const factor = unitFactor(symbol, unit);
  return factor ? Number(roundTo(factor, FACTOR_DIGITS)) : 1;
}
