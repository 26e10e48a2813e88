/** Spreads and ratios, such as `{XAU}/{XAG}`, in place of a symbol. */

import type { MarketSymbol } from '../api/answers.ts';

/** A symbol in a formula. */
export const OPERAND = /\{([^{}]+)\}/g;

export function isFormula(code: string): boolean {
  return code.includes('{');
}

/** The symbols of a formula, or the one that a code names. */
export function codesIn(code: string): string[] {
  return isFormula(code) ? [...code.matchAll(OPERAND)].map(([, operand]) => operand!) : [code];
}

const NO_CURRENCY = { code: 'none', name: 'No currency', symbol: '' };
const NO_UNIT = { symbol: 'none', name: 'No unit' };

/** The formula as a symbol, if all its symbols are known. Its history is what they have in common. */
export function formulaSymbol(formula: string, symbols: readonly MarketSymbol[]): MarketSymbol | undefined {
  const codes = [...new Set(codesIn(formula))];
  const found = codes.map((code) => symbols.find(({ symbol }) => symbol === code));
  const parts = found.filter((part) => part !== undefined);
  const [first] = parts;
  if (!first || parts.length < codes.length) return undefined;
  const isSame = (of: (symbol: MarketSymbol) => string) => parts.every((one) => of(one) === of(first));
  const isSpread = !formula.includes('/');
  const hasPrices = parts.every(({ lastDate }) => lastDate !== null);
  return {
    symbol: formula,
    name: formula.replaceAll(/\{([^{}]+)\}|([-+*/])/g, (_, code, operator) => code ?? ` ${operator} `),
    category: 'Formula',
    currency: isSpread && isSame(({ currency }) => currency.code) ? first.currency : NO_CURRENCY,
    unit: isSpread && isSame(({ unit }) => unit.symbol) ? first.unit : NO_UNIT,
    status: 'active',
    formula,
    updateInterval: isSame(({ updateInterval }) => updateInterval) ? first.updateInterval : 'day',
    firstDate: hasPrices
      ? parts
          .map(({ firstDate }) => firstDate!)
          .sort()
          .at(-1)!
      : null,
    lastDate: hasPrices ? parts.map(({ lastDate }) => lastDate!).sort()[0]! : null,
  };
}
