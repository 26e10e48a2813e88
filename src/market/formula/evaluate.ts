import { over, type Ratio, ratioOf, roundTo, times } from '../ratio.ts';
import type { Expression } from './parse.ts';

/** Results are exact to this many significant digits, like prices. */
const SIGNIFICANT = 15;

/**
 * The largest value. It leaves room for what is made of a value: in any unit and currency it is still far from 10^308, where
 * a float64 ends.
 */
const VALUE_MAX = 1e100;

/** The exact value of a formula, rounded once; undefined if it divides by zero, or is too large. */
export function evaluate(expression: Expression, priceOf: (code: string) => number): number | undefined {
  const exact = exactly(expression, (code) => ratioOf(priceOf(code)));
  if (!exact) return undefined;
  const value = Number(roundTo(exact, SIGNIFICANT));
  return Math.abs(value) <= VALUE_MAX ? value : undefined;
}

function exactly(expression: Expression, priceOf: (code: string) => Ratio): Ratio | undefined {
  switch (expression.kind) {
    case 'number':
      return ratioOf(Number(expression.text));
    case 'symbol':
      return priceOf(expression.code);
    case 'negate': {
      const value = exactly(expression.operand, priceOf);
      return value && { numerator: -value.numerator, denominator: value.denominator };
    }
    case 'binary': {
      const left = exactly(expression.left, priceOf);
      const right = left && exactly(expression.right, priceOf);
      return right && combine(expression.operator, left, right);
    }
  }
}

function combine(operator: '+' | '-' | '*' | '/', a: Ratio, b: Ratio): Ratio | undefined {
  switch (operator) {
    case '*':
      return times(a, b);
    case '/':
      return b.numerator === 0n ? undefined : over(a, b);
    default:
      return sum(a, operator === '+' ? b : { numerator: -b.numerator, denominator: b.denominator });
  }
}

/** Decimals of the same scale keep their denominator. */
function sum(a: Ratio, b: Ratio): Ratio {
  if (a.denominator === b.denominator) {
    return { numerator: a.numerator + b.numerator, denominator: a.denominator };
  }
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  };
}
