import { FileSymbols, UnknownSymbol } from '../feeds/import/symbols.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { UsageError } from './command.ts';

/** The id of each code, which may be an alias or an exchange rate. Throws when one is unknown. */
export async function findSymbols(ledger: Ledger, codes: readonly string[]): Promise<Map<string, number>> {
  const symbols = await FileSymbols.read(ledger);
  try {
    const numbers = codes.map((code) => symbols.find(code).number);
    const ids = await symbols.ids(ledger);
    return new Map(codes.map((code, i) => [code, ids[numbers[i]!]!]));
  } catch (error) {
    throw error instanceof UnknownSymbol ? new UsageError(error.message) : error;
  }
}
