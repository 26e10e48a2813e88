import type { SymbolRecord } from '../../market/symbol.ts';
import { AlreadyExists } from '../already-exists.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { changedFields } from '../audit/entry.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asText, type Sql } from '../engine/rows.ts';
import { type AliasChange, compareAliases, formulaConflict } from './aliases.ts';
import { DELETED, LAST_SYMBOL_ID } from './delete-symbol.ts';
import { type Alias, type LedgerSymbol, readSymbol, recordOf, SYMBOL, SymbolConflict } from './symbols.ts';

/** How many symbols an upsert has added, changed and left as they were. */
export interface Changes {
  added: number;
  changed: number;
  unchanged: number;
}

/**
 * Adds symbols and aliases, and updates existing ones, in an open transaction. Without `audit`, no entry is written. With
 * `moveAliases`, an alias of another symbol is taken from it.
 */
export async function upsert(
  tx: Sql,
  symbols: readonly SymbolRecord[],
  aliases: readonly Alias[],
  { audit, moveAliases = false }: { audit?: AuditLog; moveAliases?: boolean } = {},
): Promise<Changes> {
  const revision = await nextRevision(tx, 'prices');
  const { known, lastId } = await readKnown(tx, symbols);
  const renamed = await compareAliases(tx, aliases, moveAliases);
  const given = new Set(symbols.map(({ code }) => code));
  const others = [...renamed.bySymbol.keys()].filter((code) => !given.has(code));
  const touched = [...symbols, ...others.flatMap((code) => known.get(code) ?? [])];
  const changes = await upsertSymbols(tx, touched, { known, lastId, revision, renamed, audit });
  await writeAliases(tx, renamed.written, known, revision);
  await requireDistinctCodes(tx);
  return changes;
}

/** Refuses symbols that exist. The caller holds the lock of the prices' revisions. */
export async function refuseKnown(tx: Sql, symbols: readonly SymbolRecord[]): Promise<void> {
  const { known } = await readKnown(tx, symbols);
  if (symbols.some(({ code }) => known.has(code))) throw new AlreadyExists();
}

/**
 * Refuses another unit or currency for a symbol that has real prices: they would be read in it without a conversion. The caller
 * holds the lock of the prices' revisions.
 */
export async function refuseRelabelled(tx: Sql, symbols: readonly SymbolRecord[]): Promise<void> {
  const { known } = await readKnown(tx, symbols);
  for (const { code, unit, currency } of symbols) {
    const before = known.get(code);
    if (!before?.real) continue;
    if (before.unit.symbol === unit.symbol && before.currency.code === currency.code) continue;
    const inBefore = `${before.currency.code}/${before.unit.symbol}`;
    throw new SymbolConflict(
      `${code} has prices in ${inBefore}, which are not converted to ${currency.code}/${unit.symbol}. Define a symbol with another code; if only the label was wrong, use openpit symbols import --relabel`,
    );
  }
}

/** The symbols of the ledger by code, and the highest id that was ever used. Refuses codes that are being deleted. */
async function readKnown(
  tx: Sql,
  symbols: readonly SymbolRecord[],
): Promise<{ known: Map<string, LedgerSymbol>; lastId: number }> {
  const known = new Map<string, LedgerSymbol>();
  const [given] = await tx`SELECT value FROM counter WHERE name = ${LAST_SYMBOL_ID}`;
  let lastId = Number(given?.value ?? 0);
  for (const row of await tx.unsafe(`SELECT ${SYMBOL.columns} FROM symbol`)) {
    if (row.status === DELETED && symbols.some(({ code }) => code === row.code)) {
      throw new SymbolConflict(`the symbol ${row.code} is still being deleted: try again later`);
    }
    const symbol = readSymbol(row);
    known.set(symbol.code, symbol);
    lastId = Math.max(lastId, symbol.id);
  }
  return { known, lastId };
}

interface UpsertOptions {
  /** By code. New symbols are added to it. */
  known: Map<string, LedgerSymbol>;
  lastId: number;
  revision: number;
  renamed: AliasChange;
  audit: AuditLog | undefined;
}

async function upsertSymbols(
  tx: Sql,
  symbols: readonly SymbolRecord[],
  { known, lastId, revision, renamed, audit }: UpsertOptions,
): Promise<Changes> {
  const changes: Changes = { added: 0, changed: 0, unchanged: 0 };
  let newestId = lastId;
  for (const symbol of symbols) {
    const before = known.get(symbol.code);
    const aliases = renamed.bySymbol.get(symbol.code);
    if (before && !aliases && sameRecord(before, symbol)) {
      changes.unchanged++;
      continue;
    }
    const id = before?.id ?? ++newestId;
    known.set(symbol.code, { ...symbol, id, real: before?.real ?? false });
    await writeSymbol(tx, id, symbol, revision);
    before ? changes.changed++ : changes.added++;
    await audit?.record(tx, {
      action: before ? 'symbol.update' : 'symbol.create',
      target: symbol.code,
      details: {
        ...(before ? changedFields(recordOf(before), recordOf(symbol)) : recordOf(symbol)),
        ...(aliases && { aliases: before ? [aliases.before, aliases.after] : aliases.after }),
      },
    });
  }
  return changes;
}

async function writeAliases(
  tx: Sql,
  aliases: readonly Alias[],
  known: ReadonlyMap<string, LedgerSymbol>,
  revision: number,
): Promise<void> {
  for (const { alias, code, kind } of aliases) {
    const target = known.get(code);
    if (!target) throw new SymbolConflict(`alias ${alias} stands for ${code}, which is not a symbol`);
    await tx`INSERT INTO alias (alias, symbol_id, kind, revision) VALUES (${alias}, ${target.id}, ${kind}, ${revision})
      ON CONFLICT (alias) DO UPDATE SET symbol_id = ${target.id}, kind = ${kind}, revision = ${revision}`;
  }
}

/** No code may be that of a symbol and of an alias or a formula. */
async function requireDistinctCodes(tx: Sql): Promise<void> {
  const [both] = await tx`SELECT alias FROM alias JOIN symbol ON symbol.code = alias.alias LIMIT 1`;
  if (both) throw new SymbolConflict(`alias ${both.alias} is also the code of a symbol`);
  const [formula] =
    await tx`SELECT f.code FROM formula f JOIN symbol s ON s.code = f.code WHERE f.deleted = 0 LIMIT 1`;
  if (formula) throw new SymbolConflict(formulaConflict(asText(formula.code)));
}

async function writeSymbol(tx: Sql, id: number, s: SymbolRecord, revision: number): Promise<void> {
  await tx`INSERT INTO symbol
      (id, code, name, category, currency_code, currency_name, currency_symbol, unit_symbol, unit_name,
       market, decimals, status, update_interval, revision)
    VALUES (${id}, ${s.code}, ${s.name}, ${s.category}, ${s.currency.code}, ${s.currency.name}, ${s.currency.symbol},
       ${s.unit.symbol}, ${s.unit.name}, ${s.market}, ${s.decimals}, ${s.status}, ${s.updateInterval}, ${revision})
    ON CONFLICT (id) DO UPDATE SET
       name = excluded.name, category = excluded.category, currency_code = excluded.currency_code,
       currency_name = excluded.currency_name, currency_symbol = excluded.currency_symbol,
       unit_symbol = excluded.unit_symbol, unit_name = excluded.unit_name, market = excluded.market,
       decimals = excluded.decimals, status = excluded.status, update_interval = excluded.update_interval,
       revision = excluded.revision`;
}

function sameRecord(a: SymbolRecord, b: SymbolRecord): boolean {
  return Bun.deepEquals(recordOf(a), recordOf(b));
}
