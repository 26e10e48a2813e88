import type { SymbolRecord, UpdateInterval } from '../../market/symbol.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { changedFields } from '../audit/entry.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asNumber, asText, nullable, onlyRow, type Row, rowReader, type Sql } from '../engine/rows.ts';
import { sortBy } from '../engine/statements.ts';
import {
  contentOf,
  DELETED,
  deleteMarked,
  LAST_SYMBOL_ID,
  markDeleted,
  type SymbolContent,
} from './delete-symbol.ts';

/** A symbol as the ledger keeps it. */
export interface LedgerSymbol extends SymbolRecord {
  id: number;
  /** Whether it has had a real price: from then on its simulated prices are not served. */
  real: boolean;
  /** Set for a named formula, which has no prices of its own. */
  formula?: string;
}

export interface Alias {
  alias: string;
  code: string;
  /** `legacy`: an older interface used it. `guess`: clients in the wild send it. */
  kind: string;
}

/** A symbol or an alias that cannot be defined beside the others. */
export class SymbolConflict extends Error {}

/** The status of a row that is an exchange rate. */
const CURRENCY: SymbolRecord['status'] = 'currency';

/**
 * The series of one exchange rate. The slash distinguishes it from every symbol, because no code may contain one. Its day
 * is the UTC day, so a rate becomes visible when it is recorded, like a close.
 */
function exchangeRate(currency: string): SymbolRecord {
  return {
    code: `EUR/${currency}`,
    name: `${currency} for 1 EUR`,
    category: 'Currencies',
    currency: { code: currency, name: currency, symbol: currency },
    unit: { symbol: 'EUR', name: 'Euro' },
    market: 'SPOT',
    decimals: 4,
    status: CURRENCY,
    updateInterval: 'day',
  };
}

/** A row of the table `symbol`, whose currency and unit are several columns. */
interface SymbolColumns {
  id: number;
  code: string;
  name: string;
  category: string;
  currencyCode: string;
  currencyName: string;
  currencySymbol: string;
  unitSymbol: string;
  unitName: string;
  market: string;
  decimals: number;
  status: string;
  updateInterval: string;
  realRevision: number | null;
}

const SYMBOL = rowReader<SymbolColumns>({
  id: asNumber,
  code: asText,
  name: asText,
  category: asText,
  currencyCode: asText,
  currencyName: asText,
  currencySymbol: asText,
  unitSymbol: asText,
  unitName: asText,
  market: asText,
  decimals: asNumber,
  status: asText,
  updateInterval: asText,
  realRevision: nullable(asNumber),
});

const ALIAS = rowReader<Alias>({ alias: asText, code: asText, kind: asText });

export class SymbolStore {
  readonly #engine: Engine;
  readonly #audit: AuditLog;

  constructor(engine: Engine, audit: AuditLog) {
    this.#engine = engine;
    this.#audit = audit;
  }

  async list(): Promise<LedgerSymbol[]> {
    const { placeholder: p } = this.#engine;
    return this.#list(`status <> ${p(1)} AND status <> ${p(2)}`, [CURRENCY, DELETED]);
  }

  /** The exchange rates, which are separate series, in units of a currency for 1 EUR. */
  async currencies(): Promise<LedgerSymbol[]> {
    return this.#list(`status = ${this.#engine.placeholder(1)}`, [CURRENCY]);
  }

  async #list(condition: string, values: readonly string[]): Promise<LedgerSymbol[]> {
    const rows = await this.#engine.read.unsafe(
      `SELECT ${SYMBOL.columns} FROM symbol WHERE ${condition}`,
      values,
    );
    return sortBy(rows.map(readSymbol), (symbol) => symbol.code);
  }

  /** Creates the missing exchange-rate series. Returns all of them, by currency code. */
  async addCurrencies(codes: readonly string[]): Promise<Map<string, LedgerSymbol>> {
    const known = byCurrency(await this.currencies());
    const missing = codes.filter((code) => !known.has(code));
    if (missing.length === 0) return known;
    await this.#engine.write((tx) => upsert(tx, missing.map(exchangeRate), []));
    return byCurrency(await this.currencies());
  }

  async aliases(): Promise<Alias[]> {
    const rows = await this.#engine
      .read`SELECT a.alias, s.code, a.kind FROM alias a JOIN symbol s ON s.id = a.symbol_id`;
    return sortBy(rows.map(ALIAS.read), ({ alias }) => alias);
  }

  /** Whether a revision in (after, upTo] touched a symbol, an alias or a formula. */
  async changedBetween(after: number, upTo: number): Promise<boolean> {
    const row = onlyRow(
      await this.#engine.read`
      SELECT (SELECT count(*) FROM symbol WHERE revision > ${after} AND revision <= ${upTo})
           + (SELECT count(*) FROM alias WHERE revision > ${after} AND revision <= ${upTo})
           + (SELECT count(*) FROM formula WHERE revision > ${after} AND revision <= ${upTo}) AS n`,
    );
    return asNumber(row.n) > 0;
  }

  /** Adds symbols and aliases, and updates existing ones. */
  async upsert(symbols: readonly SymbolRecord[], aliases: readonly Alias[]): Promise<Changes> {
    return this.#engine.write((tx) => upsert(tx, symbols, aliases, this.#audit));
  }

  /** How much is deleted with a symbol. */
  contentOf(symbolId: number): Promise<SymbolContent> {
    return contentOf(this.#engine, symbolId);
  }

  /**
   * Deletes a symbol: it is no longer served at once, and its rows are deleted in small batches. `markDeleted` alone
   * leaves the rows to the service's background work. Returns false when the symbol does not exist.
   */
  async delete(symbolId: number): Promise<boolean> {
    if (!(await this.markDeleted(symbolId))) return false;
    while ((await deleteMarked(this.#engine)) > 0);
    return true;
  }

  markDeleted(symbolId: number): Promise<boolean> {
    return markDeleted(this.#engine, this.#audit, symbolId);
  }
}

export interface Changes {
  added: number;
  changed: number;
  unchanged: number;
}

/** Adds symbols and aliases, and updates existing ones, in an open transaction. Without `audit`, no entry is written. */
export async function upsert(
  tx: Sql,
  symbols: readonly SymbolRecord[],
  aliases: readonly Alias[],
  audit?: AuditLog,
): Promise<Changes> {
  const revision = await nextRevision(tx, 'prices');
  const { known, lastId } = await readKnown(tx, symbols);
  const changes = await upsertSymbols(tx, symbols, { known, lastId, revision, audit });
  await upsertAliases(tx, aliases, known, revision);
  await requireDistinctCodes(tx);
  return changes;
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
  audit: AuditLog | undefined;
}

async function upsertSymbols(
  tx: Sql,
  symbols: readonly SymbolRecord[],
  { known, lastId, revision, audit }: UpsertOptions,
): Promise<Changes> {
  const changes: Changes = { added: 0, changed: 0, unchanged: 0 };
  let newestId = lastId;
  for (const symbol of symbols) {
    const before = known.get(symbol.code);
    if (before && sameRecord(before, symbol)) {
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
      details: before ? changedFields(recordOf(before), recordOf(symbol)) : { ...recordOf(symbol) },
    });
  }
  return changes;
}

async function upsertAliases(
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
  if (formula)
    throw new SymbolConflict(`${formula.code} is the code of a formula: openpit symbols undefine deletes it`);
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

function byCurrency(symbols: readonly LedgerSymbol[]): Map<string, LedgerSymbol> {
  return new Map(symbols.map((symbol) => [symbol.currency.code, symbol]));
}

function sameRecord(a: SymbolRecord, b: SymbolRecord): boolean {
  return Bun.deepEquals(recordOf(a), recordOf(b));
}

/** All rows, exchange rates and symbols that are being deleted included. */
export async function symbolsIn(tx: Sql): Promise<LedgerSymbol[]> {
  return (await tx.unsafe(`SELECT ${SYMBOL.columns} FROM symbol`)).map(readSymbol);
}

/** Copies only the fields of the record. */
export function recordOf(s: SymbolRecord): SymbolRecord {
  return {
    code: s.code,
    name: s.name,
    category: s.category,
    currency: { code: s.currency.code, name: s.currency.name, symbol: s.currency.symbol },
    unit: { symbol: s.unit.symbol, name: s.unit.name },
    market: s.market,
    decimals: s.decimals,
    status: s.status,
    updateInterval: s.updateInterval,
  };
}

function readSymbol(row: Row): LedgerSymbol {
  const { currencyCode, currencyName, currencySymbol, unitSymbol, unitName, realRevision, ...rest } =
    SYMBOL.read(row);
  return {
    ...rest,
    currency: { code: currencyCode, name: currencyName, symbol: currencySymbol },
    unit: { symbol: unitSymbol, name: unitName },
    status: rest.status as SymbolRecord['status'],
    updateInterval: rest.updateInterval as UpdateInterval,
    real: realRevision !== null,
  };
}
