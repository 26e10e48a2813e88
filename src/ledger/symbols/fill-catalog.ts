import type { SymbolRecord } from '../../market/symbol.ts';
import { BUILT_IN_PLANS } from '../accounts/built-in-plans.ts';
import { writePlan } from '../accounts/plans.ts';
import aliases from '../catalog/aliases.json';
import corrections from '../catalog/corrections.json';
import formulas from '../catalog/formulas.json';
import symbols from '../catalog/symbols.json';
import type { Engine } from '../engine/engine.ts';
import { writeMeta } from '../engine/meta.ts';
import { asText, type Sql } from '../engine/rows.ts';
import { MOVE_MARKER } from '../move/marker.ts';
import { DELETED } from './delete-symbol.ts';
import { writeFormula } from './formulas.ts';
import { SIMULATED, SIMULATED_ID } from './sources.ts';
import { type LedgerSymbol, symbolsIn } from './symbols.ts';
import { upsert } from './upsert-symbols.ts';

/**
 * How many symbols each earlier version had; new ones are listed after them. When the catalogue gets new symbols or corrections,
 * add the number before: servers then add them to existing ledgers, once.
 */
const SYMBOLS_BEFORE = [131, 197, 197];
const CATALOG_VERSION = SYMBOLS_BEFORE.length + 1;
/** What ledgers of the first version have in place of a number. */
const FIRST_VERSION = 'filled';

const CATALOG = symbols as SymbolRecord[];

/**
 * Fills a new ledger with the catalogue and the built-in plans. With `extend`, an older ledger gets what was added since.
 * Symbols that the operator has deleted since then do not come back.
 */
export async function fillCatalog(engine: Engine, extend: boolean): Promise<void> {
  if (isCurrent(await versionOf(engine.read), extend)) return;
  await engine.write(async (tx) => {
    await engine.lockForMigration(tx);
    const version = await versionOf(tx); // another process may have been first
    if (isCurrent(version, extend)) return;
    if (version === undefined) await fill(tx);
    else await extendCatalog(tx, CATALOG.slice(SYMBOLS_BEFORE[version - 1]));
    await writeMeta(tx, 'catalog', String(CATALOG_VERSION));
  }, true);
}

async function fill(tx: Sql): Promise<void> {
  await tx`INSERT INTO source (id, name) VALUES (${SIMULATED_ID}, ${SIMULATED})`;
  await upsert(tx, CATALOG, aliases);
  for (const formula of formulas) await writeFormula(tx, formula);
  for (const plan of BUILT_IN_PLANS) await writePlan(tx, plan);
}

/** Adds what is new, and never replaces what the operator has added under the same code. */
async function extendCatalog(tx: Sql, newer: readonly SymbolRecord[]): Promise<void> {
  const known = new Map((await symbolsIn(tx)).map((symbol) => [symbol.code, symbol]));
  const taken = new Set((await tx`SELECT alias FROM alias`).map((row) => asText(row.alias)));
  const present = new Set((await tx`SELECT code FROM formula`).map((row) => asText(row.code)));
  const added = newer.filter(({ code }) => !known.has(code) && !taken.has(code) && !present.has(code));
  const codes = new Set([...known.keys(), ...added.map(({ code }) => code)]);
  // Guesses follow the catalogue; an alias that the operator has set stays.
  const own = await tx`SELECT alias FROM alias WHERE kind <> 'guess'`;
  const kept = new Set(own.map((row) => asText(row.alias)));
  const addedAliases = aliases.filter(
    ({ alias, code }) => !codes.has(alias) && !kept.has(alias) && !present.has(alias) && codes.has(code),
  );
  await upsert(tx, [...added, ...correctedSymbols(known)], addedAliases, { moveAliases: true });
  const used = new Set([...codes, ...taken]);
  for (const formula of formulas) {
    if (!used.has(formula.code) && !present.has(formula.code)) await writeFormula(tx, formula);
  }
}

/** Symbols whose currency, unit, market or interval was wrong. Real prices keep the unit that they were recorded in. */
function correctedSymbols(known: ReadonlyMap<string, LedgerSymbol>): SymbolRecord[] {
  return corrections.flatMap(({ code, was }) => {
    const symbol = known.get(code);
    const isDeleted = String(symbol?.status) === DELETED; // its row is still there
    if (!symbol || isDeleted || symbol.real || termsOf(symbol) !== was) return [];
    return CATALOG.filter((one) => one.code === code);
  });
}

function termsOf({ currency, unit, market, updateInterval }: SymbolRecord): string {
  return `${currency.code}/${unit.symbol} ${market} ${updateInterval}`;
}

async function versionOf(handle: Sql): Promise<number | undefined> {
  const rows = await handle`SELECT name, value FROM meta WHERE name = 'catalog' OR name = ${MOVE_MARKER}`;
  if (rows.some(({ name }) => name === MOVE_MARKER)) {
    throw new Error('this ledger is the target of an unfinished "openpit move": run the same move again');
  }
  if (rows[0] === undefined) return undefined;
  const value = asText(rows[0].value);
  return value === FIRST_VERSION ? 1 : Number(value);
}

function isCurrent(version: number | undefined, extend: boolean): boolean {
  return version !== undefined && (version >= CATALOG_VERSION || !extend);
}
