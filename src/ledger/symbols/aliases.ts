import { asText, rowReader, type Sql } from '../engine/rows.ts';
import { type Alias, SymbolConflict } from './symbols.ts';

const ALIAS = rowReader<Alias>({ alias: asText, code: asText, kind: asText });

/** All aliases. */
export async function aliasesIn(handle: Sql): Promise<Alias[]> {
  const rows = await handle`SELECT a.alias, s.code, a.kind FROM alias a JOIN symbol s ON s.id = a.symbol_id`;
  return rows.map(ALIAS.read);
}

/** What adding aliases changes. */
export interface AliasChange {
  /** New aliases, and those with another symbol or kind. */
  written: readonly Alias[];
  /** The sorted aliases of each symbol whose aliases change, before and after. */
  bySymbol: ReadonlyMap<string, { before: readonly string[]; after: readonly string[] }>;
}

/** Compares aliases with those of the ledger. Throws SymbolConflict if one is a formula's or, unless `move`, another symbol's. */
export async function compareAliases(tx: Sql, added: readonly Alias[], move: boolean): Promise<AliasChange> {
  const before = new Map((await aliasesIn(tx)).map((one) => [one.alias, one]));
  const formulas = await tx`SELECT code FROM formula WHERE deleted = 0`;
  const isFormula = new Set(formulas.map((row) => asText(row.code)));
  const after = new Map(before);
  for (const alias of added) {
    if (isFormula.has(alias.alias)) throw new SymbolConflict(formulaConflict(alias.alias));
    const owner = (move ? undefined : after.get(alias.alias))?.code ?? alias.code;
    if (owner !== alias.code) {
      const how = 'openpit symbols import --move-aliases moves it';
      throw new SymbolConflict(`alias ${alias.alias} stands for ${owner} already; ${how}`);
    }
    after.set(alias.alias, alias);
  }
  const written = [...after.values()].filter((one) => !Bun.deepEquals(one, before.get(one.alias)));
  const codes = new Set<string>();
  for (const { alias, code } of written) {
    const owner = before.get(alias)?.code;
    if (owner !== code) codes.add(code);
    if (owner !== undefined && owner !== code) codes.add(owner);
  }
  const [old, now] = [bySymbol(before), bySymbol(after)];
  const changes = [...codes].map((code) => [code, { before: old(code), after: now(code) }] as const);
  return { written, bySymbol: new Map(changes) };
}

export function formulaConflict(code: string): string {
  return `${code} is the code of a formula: openpit symbols undefine deletes it`;
}

function bySymbol(aliases: ReadonlyMap<string, Alias>): (code: string) => string[] {
  const groups = Map.groupBy(aliases.values(), ({ code }) => code);
  return (code) => (groups.get(code) ?? []).map(({ alias }) => alias).sort();
}
