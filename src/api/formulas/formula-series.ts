import type { Measure } from '../../board/series/price-types.ts';
import { Series, type SeriesOptions } from '../../board/series/series.ts';
import { type NamedFormula, NO_MEASURE } from '../../ledger/symbols/formulas.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { Expression, Formula } from '../../market/formula/parse.ts';
import type { UpdateInterval } from '../../market/symbol.ts';
import type { RequestedSymbol } from '../model/price-query.ts';

/** A formula is never loaded: only its parts are. */
const NOT_LOADED = undefined as unknown as SeriesOptions;

const SLOWEST_FIRST: readonly UpdateInterval[] = ['month', 'week', 'day', 'minute'];

/** A named formula has a code, a unit and a currency of its own. */
export type FormulaKind = 'named' | 'ad hoc';

/** A formula in place of a symbol. It has no prices of its own: `FormulaPrices` computes them from its parts. */
export class FormulaSeries extends Series {
  readonly formula: Formula;
  readonly parts: readonly RequestedSymbol[];
  readonly kind: FormulaKind;

  constructor(formula: Formula, parts: readonly RequestedSymbol[], named?: NamedFormula) {
    const symbols = parts.map(({ series }) => series.symbol);
    const [first] = symbols;
    super(
      {
        ...first!,
        code: formula.text,
        name: formula.text,
        ...(named && recordOf(named, symbols, formula)),
        decimals: Math.max(...symbols.map(({ decimals }) => decimals)),
        updateInterval: SLOWEST_FIRST.find((one) => symbols.some((symbol) => symbol.updateInterval === one))!,
      },
      NOT_LOADED,
      [],
    );
    this.formula = formula;
    this.parts = parts;
    this.kind = named ? 'named' : 'ad hoc';
  }

  override get lateFrom(): number {
    return Math.min(...this.parts.map(({ series }) => series.lateFrom));
  }

  override get isHidden(): boolean {
    return this.parts.some(({ series }) => series.isHidden);
  }

  /** Unit and currency of the result, from those of its parts. */
  measure(measureOf: (series: Series) => Measure): Measure {
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

/** The symbols whose prices a request converts: the parts of ad hoc formulas, and all others. */
export function convertedOf(symbols: readonly RequestedSymbol[]): readonly RequestedSymbol[] {
  return symbols.flatMap((requested) => {
    const { series } = requested;
    return series instanceof FormulaSeries && series.kind === 'ad hoc' ? series.parts : [requested];
  });
}

export function hasFormulas(symbols: readonly RequestedSymbol[]): boolean {
  return symbols.some(({ series }) => series instanceof FormulaSeries);
}

/** The symbols whose prices a request reads: the parts of formulas, and all others. */
export function partsOfAll(symbols: readonly RequestedSymbol[]): readonly RequestedSymbol[] {
  if (!hasFormulas(symbols)) return symbols;
  return symbols.flatMap((requested) =>
    requested.series instanceof FormulaSeries ? requested.series.parts : [requested],
  );
}
