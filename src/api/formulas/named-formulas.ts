import type { Catalog } from '../../board/catalog.ts';
import { type FormulaPart, FormulaSeries } from '../../board/series/formula-series.ts';
import type { NamedFormula } from '../../ledger/symbols/formulas.ts';
import { readFormula } from '../../market/formula/read.ts';

/** The named formulas of a catalogue whose symbols all exist, by code. */
const byCatalog = new WeakMap<Catalog, ReadonlyMap<string, FormulaSeries>>();

/** The series of all named formulas, by code. They are built once for each state of the catalogue. */
export function namedFormulas(catalog: Catalog): ReadonlyMap<string, FormulaSeries> {
  let known = byCatalog.get(catalog);
  if (!known) {
    known = new Map(
      catalog.formulas.flatMap((formula) => {
        const series = seriesOf(formula, catalog);
        return series ? [[formula.code, series] as const] : [];
      }),
    );
    byCatalog.set(catalog, known);
  }
  return known;
}

/** Undefined if one of its symbols was deleted. */
function seriesOf(named: NamedFormula, catalog: Catalog): FormulaSeries | undefined {
  const formula = readFormula(named.expression);
  if ('problem' in formula) return undefined;
  const parts: FormulaPart[] = [];
  for (const code of formula.codes) {
    const series = catalog.find(code);
    if (!series) return undefined;
    parts.push({ code, series });
  }
  return new FormulaSeries(formula, parts, named);
}
