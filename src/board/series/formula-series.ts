import { type NamedFormula, NO_MEASURE } from '../../ledger/symbols/formulas.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { Expression, Formula } from '../../market/formula/parse.ts';
import type { UpdateInterval } from '../../market/symbol.ts';
import type { Measure } from './price-types.ts';
import type { SymbolSeries } from './symbol-series.ts';

const SLOWEST_FIRST: readonly UpdateInterval[] = ['month', 'week', 'day', 'minute'];

/** A named formula has a code, a unit and a currency of its own. */
export type FormulaKind = 'named' | 'ad hoc';

/** A symbol of a formula. The formula uses this code, even if it is an alias. */
export interface FormulaPart {
  code: string;
  series: SymbolSeries;
}

/** A formula in place of a symbol. It has no prices of its own: `FormulaPrices` computes them from its parts. */
export class FormulaSeries {
  readonly symbol: LedgerSymbol;
  readonly formula: Formula;
  readonly parts: readonly FormulaPart[];
  readonly kind: FormulaKind;

  constructor(formula: Formula, parts: readonly FormulaPart[], named?: NamedFormula) {
    const symbols = parts.map(({ series }) => series.symbol);
    const [first] = symbols;
    this.symbol = {
      ...first!,
      code: formula.text,
      name: formula.text,
      ...(named && recordOf(named, symbols, formula)),
      decimals: Math.max(...symbols.map(({ decimals }) => decimals)),
      updateInterval: SLOWEST_FIRST.find((one) => symbols.some((symbol) => symbol.updateInterval === one))!,
    };
    this.formula = formula;
    this.parts = parts;
    this.kind = named ? 'named' : 'ad hoc';
  }

  /** Whether it has the same values and the same measure. Each state of the catalogue has its own series of named formulas. */
  isSameAs(other: FormulaSeries): boolean {
    const { unit, currency } = this.symbol;
    return (
      this.kind === other.kind &&
      this.formula.text === other.formula.text &&
      this.parts.every(({ series }, i) => series === other.parts[i]!.series) &&
      unit.symbol === other.symbol.unit.symbol &&
      currency.code === other.symbol.currency.code
    );
  }

  /** When the feed of one of its parts becomes late, in ms. */
  get lateFrom(): number {
    return Math.min(...this.parts.map(({ series }) => series.lateFrom));
  }

  /** Whether one of its parts has only simulated prices, which are not shown. */
  get isHidden(): boolean {
    return this.parts.some(({ series }) => series.isHidden);
  }

  /** Unit and currency of the result, from those of its parts. */
  measure(measureOf: (part: SymbolSeries) => Measure): Measure {
    const { symbol } = this;
    if (this.kind === 'named') return { unit: symbol.unit.symbol, quote: symbol.currency.code };
    const byCode = new Map(this.parts.map(({ code, series }) => [code, measureOf(series)]));
    const { unit, quote } = measureOfExpression(this.formula.expression, byCode) ?? NOTHING;
    return { unit, quote };
  }
}

/** What the catalogue says of a named formula. Units and currencies have the names that its symbols give them. */
function recordOf(
  { code, name, unit, currency }: NamedFormula,
  symbols: readonly LedgerSymbol[],
  formula: Formula,
) {
  const ofUnit = symbols.find((one) => one.unit.symbol === unit)?.unit;
  const ofCurrency = symbols.find((one) => one.currency.code === currency)?.currency;
  return {
    code,
    name,
    category: 'Spreads',
    unit: ofUnit ?? { symbol: unit, name: unit },
    currency: ofCurrency ?? { code: currency, name: currency, symbol: currency },
    status: 'active' as const,
    formula: formula.text,
  };
}

const NOTHING: Measure = { unit: NO_MEASURE, quote: NO_MEASURE };

/** Undefined for a number, which leaves the measure of what it is multiplied by or added to unchanged. */
function measureOfExpression(
  expression: Expression,
  byCode: ReadonlyMap<string, Measure>,
): Measure | undefined {
  switch (expression.kind) {
    case 'number':
      return undefined;
    case 'symbol':
      return byCode.get(expression.code)!;
    case 'negate':
      return measureOfExpression(expression.operand, byCode);
    case 'binary': {
      const left = measureOfExpression(expression.left, byCode);
      const right = measureOfExpression(expression.right, byCode);
      if (!right) return left;
      if (expression.operator === '/') return NOTHING;
      if (!left) return right;
      if (expression.operator === '*') return NOTHING;
      return {
        unit: left.unit === right.unit ? left.unit : NO_MEASURE,
        quote: left.quote === right.quote ? left.quote : NO_MEASURE,
      };
    }
  }
}
