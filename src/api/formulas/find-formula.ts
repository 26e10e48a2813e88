import type { Catalog } from '../../board/catalog.ts';
import { type Formula, parseFormula } from '../../market/formula/parse.ts';
import { refuse } from '../errors/errors.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import { FormulaSeries } from './formula-series.ts';

/** How much of a formula an error message repeats. */
const ECHO_MAX = 64;

/** Parses a formula; refuses a text that is none. */
function readFormula(text: string): Formula {
  const formula = parseFormula(text);
  if (!('problem' in formula)) return formula;
  throw refuse('invalid_formula', {
    received: echo(text),
    problem: `${formula.problem} (at character ${formula.at + 1})`,
  });
}

/** A formula in the place of a symbol, or the codes in it that are unknown. */
export function findFormula(
  text: string,
  catalog: Catalog,
  isAccepted: boolean,
): RequestedSymbol | { unknown: string[] } {
  const formula = readFormula(text);
  if (!isAccepted) {
    throw refuse('invalid_formula', { received: echo(text), problem: 'this endpoint takes only codes' });
  }
  const parts: RequestedSymbol[] = [];
  const unknown: string[] = [];
  for (const code of formula.codes) {
    const series = catalog.find(code);
    if (series) parts.push({ code, series });
    else unknown.push(code);
  }
  return unknown.length > 0 ? { unknown } : { code: formula.text, series: new FormulaSeries(formula, parts) };
}

function echo(text: string): string {
  return text.length > ECHO_MAX ? `${text.slice(0, ECHO_MAX)}…` : text;
}
