import type { SymbolRecord, UpdateInterval } from '../../market/symbol.ts';
import { asNumber, asText, nullable, type Row, rowReader, type Sql } from '../engine/rows.ts';

/** A symbol as the ledger keeps it. */
export interface LedgerSymbol extends SymbolRecord {
  id: number;
  /** Whether it has had a real price: from then on its simulated prices are not served. */
  real: boolean;
  /** Set for a named formula, which has no prices of its own. */
  formula?: string;
}

export interface Alias {
  alias: string;
  code: string;
  /** `legacy`: an older interface used it. `guess`: clients in the wild send it. */
  kind: string;
}

/** A symbol or an alias that cannot be defined beside the others. */
export class SymbolConflict extends Error {}

/** A row of the table `symbol`, whose currency and unit are several columns. */
interface SymbolColumns {
  id: number;
  code: string;
  name: string;
  category: string;
  currencyCode: string;
  currencyName: string;
  currencySymbol: string;
  unitSymbol: string;
  unitName: string;
  market: string;
  decimals: number;
  status: string;
  updateInterval: string;
  realRevision: number | null;
}

export const SYMBOL = rowReader<SymbolColumns>({
  id: asNumber,
  code: asText,
  name: asText,
  category: asText,
  currencyCode: asText,
  currencyName: asText,
  currencySymbol: asText,
  unitSymbol: asText,
  unitName: asText,
  market: asText,
  decimals: asNumber,
  status: asText,
  updateInterval: asText,
  realRevision: nullable(asNumber),
});

/** All rows, exchange rates and symbols that are being deleted included. */
export async function symbolsIn(tx: Sql): Promise<LedgerSymbol[]> {
  return (await tx.unsafe(`SELECT ${SYMBOL.columns} FROM symbol`)).map(readSymbol);
}

/** Copies only the fields of the record. */
export function recordOf(s: SymbolRecord): SymbolRecord {
  return {
    code: s.code,
    name: s.name,
    category: s.category,
    currency: { code: s.currency.code, name: s.currency.name, symbol: s.currency.symbol },
    unit: { symbol: s.unit.symbol, name: s.unit.name },
    market: s.market,
    decimals: s.decimals,
    status: s.status,
    updateInterval: s.updateInterval,
  };
}

export function readSymbol(row: Row): LedgerSymbol {
  const { currencyCode, currencyName, currencySymbol, unitSymbol, unitName, realRevision, ...rest } =
    SYMBOL.read(row);
  return {
    ...rest,
    currency: { code: currencyCode, name: currencyName, symbol: currencySymbol },
    unit: { symbol: unitSymbol, name: unitName },
    status: rest.status as SymbolRecord['status'],
    updateInterval: rest.updateInterval as UpdateInterval,
    real: realRevision !== null,
  };
}
