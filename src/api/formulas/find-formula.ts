import type { Catalog } from '../../board/catalog.ts';
import { type FormulaPart, FormulaSeries } from '../../board/series/formula-series.ts';
import type { Formula } from '../../market/formula/parse.ts';
import { readFormula } from '../../market/formula/read.ts';
import { BoundedCache, copyText } from '../../runtime/bounded-cache.ts';
import { refuse } from '../errors/errors.ts';
import type { RequestedSymbol } from '../model/price-query.ts';
import { namedFormulas } from './named-formulas.ts';

/** How much of a formula an error message repeats. */
const ECHO_MAX = 64;

/** Formulas by their text. A client tends to repeat the same ones. */
const parsed = new BoundedCache<string, Formula>({ bytesMax: 1024 * 1024 });

/** Parses a formula; refuses a text that is none. */
function formulaOf(text: string): Formula {
  const known = parsed.get(text);
  if (known) return known;
  const formula = readFormula(text);
  if (!('problem' in formula)) {
    parsed.set(copyText(text), formula, BYTES_PER_CHARACTER * text.length);
    return formula;
  }
  throw refuse('invalid_formula', {
    received: echo(text),
    problem: `${formula.problem} (at character ${formula.at + 1})`,
  });
}

/** About what the tree of a formula takes for each character of its text. */
const BYTES_PER_CHARACTER = 40;

/** A named formula in place of a symbol; undefined if the code is none. */
export function findNamed(code: string, catalog: Catalog, isAccepted: boolean): RequestedSymbol | undefined {
  if (catalog.formulas.length === 0) return undefined;
  const series = namedFormulas(catalog).get(code);
  if (series && !isAccepted) throw onlyCodes(code);
  return series && { code, series };
}

function onlyCodes(received: string) {
  return refuse('invalid_formula', {
    received: echo(received),
    problem: 'this endpoint takes only symbols',
    advice: 'Send the codes of the symbols in it.',
  });
}

/** A formula in place of a symbol, or the codes in it that are unknown. */
export function findFormula(
  text: string,
  catalog: Catalog,
  isAccepted: boolean,
): RequestedSymbol | { code: string; unknown: string[] } {
  const formula = formulaOf(text);
  if (!isAccepted) throw onlyCodes(text);
  const parts: FormulaPart[] = [];
  const unknown: string[] = [];
  for (const code of formula.codes) {
    const series = catalog.find(code);
    if (series) parts.push({ code, series });
    else if (namedFormulas(catalog).has(code)) {
      const problem = `${code} is a formula: a formula is made of symbols, not of other formulas`;
      const advice = `GET /symbols lists what ${code} is made of.`;
      throw refuse('invalid_formula', { received: echo(text), problem, advice });
    } else unknown.push(code);
  }
  const code = formula.text;
  return unknown.length > 0 ? { code, unknown } : { code, series: new FormulaSeries(formula, parts) };
}

function echo(text: string): string {
  return text.length > ECHO_MAX ? `${text.slice(0, ECHO_MAX)}…` : text;
}
