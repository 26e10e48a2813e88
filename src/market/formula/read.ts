import { evaluate } from './evaluate.ts';
import { type Formula, type FormulaError, parseFormula } from './parse.ts';

/** Prices that no formula has in it by chance. */
const PROBES = [(index: number) => 1_234.56789 + 7.1357 * index, (index: number) => 86.420_13 / (index + 1)];

const NO_VALUE = 'it divides by zero, or its value is too large';

/** Parses a formula. One that has no value whatever the prices are is none. */
export function readFormula(text: string): Formula | FormulaError {
  const formula = parseFormula(text);
  if ('problem' in formula) return formula;
  const { expression, codes } = formula;
  const hasValue = PROBES.some(
    (probe) => evaluate(expression, (code) => probe(codes.indexOf(code))) !== undefined,
  );
  return hasValue ? formula : { problem: NO_VALUE, at: Math.max(0, text.indexOf('/')) };
}
