import type { Ledger } from '../ledger/ledger.ts';
import { nearestCodes } from '../market/symbol.ts';
import { UsageError } from './command.ts';

/** Not a symbol, but the units of a currency for 1 EUR. */
const EXCHANGE_RATE = /^EUR\/([A-Z]{3})$/;

/** The id of each code, which may be an alias or an exchange rate. Throws when one is unknown. */
export async function findSymbols(ledger: Ledger, codes: readonly string[]): Promise<Map<string, number>> {
  const symbols = await ledger.symbols.list();
  const aliases = await ledger.symbols.aliases();
  const ids = new Map<string, number>();
  for (const code of codes) {
    const currency = EXCHANGE_RATE.exec(code)?.[1];
    if (currency !== undefined) {
      ids.set(code, (await ledger.symbols.addCurrencies([currency])).get(currency)!.id);
      continue;
    }
    const meant = aliases.find((one) => one.alias === code)?.code ?? code;
    const symbol = symbols.find((one) => one.code === meant);
    if (!symbol) {
      const known = [...symbols.map((one) => one.code), ...aliases.map((one) => one.alias)];
      const nearest = nearestCodes(code, known);
      const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(', ')}?` : '';
      throw new UsageError(`there is no symbol ${code}.${hint} openpit symbols list shows all.`);
    }
    ids.set(code, symbol.id);
  }
  return ids;
}
