import type { Measure } from '../../board/series/price-types.ts';
import { Series } from '../../board/series/series.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Expression, Formula } from '../../market/formula/parse.ts';
import type { UpdateInterval } from '../../market/symbol.ts';
import type { RequestedSymbol } from '../model/price-query.ts';

/** A formula has no ledger: only its parts are loaded. */
const NO_LEDGER = undefined as unknown as Ledger;

/** What `unit` and `quote` say where a formula has none: quotients, and sums of different units. */
const NONE = 'none';

const SLOWEST_FIRST: readonly UpdateInterval[] = ['month', 'week', 'day', 'minute'];

/** A formula in the place of a symbol. It has no prices of its own: `FormulaPrices` computes them from its parts. */
export class FormulaSeries extends Series {
  readonly formula: Formula;
  readonly parts: readonly RequestedSymbol[];

  constructor(formula: Formula, parts: readonly RequestedSymbol[]) {
    const symbols = parts.map(({ series }) => series.symbol);
    const [first] = symbols;
    super(
      {
        ...first!,
        code: formula.text,
        name: formula.text,
        decimals: Math.max(...symbols.map(({ decimals }) => decimals)),
        updateInterval: SLOWEST_FIRST.find((one) => symbols.some((symbol) => symbol.updateInterval === one))!,
      },
      NO_LEDGER,
      [],
      false,
    );
    this.formula = formula;
    this.parts = parts;
  }

  override get lateFrom(): number {
    return Math.min(...this.parts.map(({ series }) => series.lateFrom));
  }

  /** Unit and currency of the result, from those of its parts. */
  measure(measureOf: (series: Series) => Measure): Measure {
    const byCode = new Map(this.parts.map(({ code, series }) => [code, measureOf(series)]));
    const { unit, quote } = measureOfExpression(this.formula.expression, byCode) ?? NOTHING;
    return { unit, quote };
  }
}

const NOTHING: Measure = { unit: NONE, quote: NONE };

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
        unit: left.unit === right.unit ? left.unit : NONE,
        quote: left.quote === right.quote ? left.quote : NONE,
      };
    }
  }
}

/** The symbols whose prices a request reads: the parts of formulas, and all others. */
export function partsOfAll(symbols: readonly RequestedSymbol[]): readonly RequestedSymbol[] {
  if (!symbols.some(({ series }) => series instanceof FormulaSeries)) return symbols;
  return symbols.flatMap((asked) => (asked.series instanceof FormulaSeries ? asked.series.parts : [asked]));
}
