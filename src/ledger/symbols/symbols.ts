import type { SymbolRecord, UpdateInterval } from '../../market/symbol.ts';
import type { Engine } from '../engine/engine.ts';
import { nextRevision } from '../engine/revisions.ts';
import { asNumber, asText, onlyRow, type Sql } from '../engine/rows.ts';
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
  /** Whether a real observation has come: from then on its simulated prices are out of use. */
  real: boolean;
}

export interface Alias {
  alias: string;
  code: string;
  /** `legacy`: an older interface used it. `guess`: programs in the wild send it. */
  kind: string;
}

/** The status of a row that is an exchange rate. */
const CURRENCY: SymbolRecord['status'] = 'currency';

/**
 * The series of one exchange rate. The slash keeps it apart from every symbol: no code may have one. Its day is the UTC
 * day, so a rate is seen from when it was recorded, as a close is.
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

export class SymbolStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async list(): Promise<LedgerSymbol[]> {
    const rows = await this.#engine.read`SELECT * FROM symbol
      WHERE status <> ${CURRENCY} AND status <> ${DELETED}`;
    return sortBy(rows.map(toSymbol), (symbol: LedgerSymbol) => symbol.code);
  }

  /** The exchange rates: series of their own beside the symbols, in units of a currency for 1 EUR. */
  async currencies(): Promise<LedgerSymbol[]> {
    const rows = await this.#engine.read`SELECT * FROM symbol WHERE status = ${CURRENCY}`;
    return sortBy(rows.map(toSymbol), (symbol: LedgerSymbol) => symbol.code);
  }

  /** Sees to it that there is a series for the rate of each currency. Gives all of them, by the currency's code. */
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
    const aliases: Alias[] = rows.map((row) => ({
      alias: asText(row.alias),
      code: asText(row.code),
      kind: asText(row.kind) as Alias['kind'],
    }));
    return sortBy(aliases, ({ alias }) => alias);
  }

  /** Whether a revision in (after, upTo] touched a symbol or an alias. */
  async changedBetween(after: number, upTo: number): Promise<boolean> {
    const row = onlyRow(
      await this.#engine.read`
      SELECT (SELECT count(*) FROM symbol WHERE revision > ${after} AND revision <= ${upTo})
           + (SELECT count(*) FROM alias WHERE revision > ${after} AND revision <= ${upTo}) AS n`,
    );
    return asNumber(row.n) > 0;
  }

  /** Adds symbols and aliases, and brings those that are there up to date. */
  async upsert(symbols: readonly SymbolRecord[], aliases: readonly Alias[]): Promise<Changes> {
    return this.#engine.write((tx) => upsert(tx, symbols, aliases));
  }

  /** How much is deleted with a symbol. */
  contentOf(symbolId: number): Promise<SymbolContent> {
    return contentOf(this.#engine, symbolId);
  }

  /**
   * Deletes a symbol: at once from everything that is served, and then its rows in small batches. `markDeleted` alone
   * leaves the rows to the service's background work. False when there is no such symbol.
   */
  async delete(symbolId: number): Promise<boolean> {
    if (!(await this.markDeleted(symbolId))) return false;
    while ((await deleteMarked(this.#engine)) > 0);
    return true;
  }

  markDeleted(symbolId: number): Promise<boolean> {
    return markDeleted(this.#engine, symbolId);
  }
}

export interface Changes {
  added: number;
  changed: number;
  unchanged: number;
}

export async function upsert(
  tx: Sql,
  symbols: readonly SymbolRecord[],
  aliases: readonly Alias[],
): Promise<Changes> {
  const revision = await nextRevision(tx, 'prices');
  const known = new Map<string, LedgerSymbol>();
  const [given] = await tx`SELECT value FROM counter WHERE name = ${LAST_SYMBOL_ID}`;
  let lastId = Number(given?.value ?? 0);
  for (const row of await tx`SELECT * FROM symbol`) {
    if (row.status === DELETED && symbols.some(({ code }) => code === row.code)) {
      throw new Error(`the symbol ${row.code} is still being deleted: try again later`);
    }
    const symbol = toSymbol(row);
    known.set(symbol.code, symbol);
    lastId = Math.max(lastId, symbol.id);
  }
  const changes: Changes = { added: 0, changed: 0, unchanged: 0 };
  for (const symbol of symbols) {
    const before = known.get(symbol.code);
    if (before && sameRecord(before, symbol)) {
      changes.unchanged++;
      continue;
    }
    const id = before?.id ?? ++lastId;
    known.set(symbol.code, { ...symbol, id, real: before?.real ?? false });
    await writeSymbol(tx, id, symbol, revision);
    before ? changes.changed++ : changes.added++;
  }
  for (const { alias, code, kind } of aliases) {
    const target = known.get(code);
    if (!target) throw new Error(`alias ${alias} stands for ${code}, which is no symbol`);
    await tx`INSERT INTO alias (alias, symbol_id, kind, revision) VALUES (${alias}, ${target.id}, ${kind}, ${revision})
      ON CONFLICT (alias) DO UPDATE SET symbol_id = ${target.id}, kind = ${kind}, revision = ${revision}`;
  }
  const [both] = await tx`SELECT alias FROM alias JOIN symbol ON symbol.code = alias.alias LIMIT 1`;
  if (both) throw new Error(`alias ${both.alias} is also the code of a symbol`);
  return changes;
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

/** The record alone, without what the ledger adds. */
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

type Row = Record<string, string | number | null>;

function toSymbol(row: Row): LedgerSymbol {
  return {
    id: asNumber(row.id),
    code: asText(row.code),
    name: asText(row.name),
    category: asText(row.category),
    currency: {
      code: asText(row.currency_code),
      name: asText(row.currency_name),
      symbol: asText(row.currency_symbol),
    },
    unit: { symbol: asText(row.unit_symbol), name: asText(row.unit_name) },
    market: asText(row.market),
    decimals: asNumber(row.decimals),
    status: asText(row.status) as SymbolRecord['status'],
    updateInterval: asText(row.update_interval) as UpdateInterval,
    real: row.real_revision !== null,
  };
}
