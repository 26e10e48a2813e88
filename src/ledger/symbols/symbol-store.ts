import type { SymbolRecord } from '../../market/symbol.ts';
import type { DefinitionOptions } from '../already-exists.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Engine } from '../engine/engine.ts';
import { lockRevisions } from '../engine/revisions.ts';
import { asNumber, onlyRow } from '../engine/rows.ts';
import { sortBy } from '../engine/statements.ts';
import { aliasesIn } from './aliases.ts';
import { contentOf, DELETED, deleteMarked, markDeleted, type SymbolContent } from './delete-symbol.ts';
import { type Alias, type LedgerSymbol, readSymbol, SYMBOL } from './symbols.ts';
import { type Changes, refuseKnown, refuseRelabelled, upsert } from './upsert-symbols.ts';

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
    return sortBy(await aliasesIn(this.#engine.read), ({ alias }) => alias);
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

  /** Adds symbols and aliases, and updates existing ones. Throws SymbolConflict. */
  async upsert(
    symbols: readonly SymbolRecord[],
    aliases: readonly Alias[],
    {
      relabel = false,
      moveAliases = false,
      onlyNew = false,
    }: { relabel?: boolean; moveAliases?: boolean } & DefinitionOptions = {},
  ): Promise<Changes> {
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'prices'); // a symbol must not get its first price, or be defined, after the checks
      if (onlyNew) await refuseKnown(tx, symbols);
      if (!relabel) await refuseRelabelled(tx, symbols);
      return upsert(tx, symbols, aliases, { audit: this.#audit, moveAliases });
    });
  }

  /** How much is deleted with a symbol. */
  contentOf(symbolId: number): Promise<SymbolContent> {
    return contentOf(this.#engine, symbolId);
  }

  /**
   * Deletes a symbol: it stops being served immediately, and its rows are deleted in small batches. `markDeleted` alone
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

function byCurrency(symbols: readonly LedgerSymbol[]): Map<string, LedgerSymbol> {
  return new Map(symbols.map((symbol) => [symbol.currency.code, symbol]));
}
