import type { SQL } from 'bun';
import type { SymbolRecord, UpdateInterval } from '../market/symbol.ts';
import type { Engine } from './engine.ts';
import { nextRevision, sortBy } from './statements.ts';

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

export class SymbolStore {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async list(): Promise<LedgerSymbol[]> {
    const symbols: LedgerSymbol[] = (await this.#engine.read`SELECT * FROM symbol`).map(toSymbol);
    return sortBy(symbols, (symbol) => symbol.code);
  }

  async aliases(): Promise<Alias[]> {
    const rows = await this.#engine
      .read`SELECT a.alias, s.code, a.kind FROM alias a JOIN symbol s ON s.id = a.symbol_id`;
    const aliases: Alias[] = rows.map(({ alias, code, kind }: Alias) => ({ alias, code, kind }));
    return sortBy(aliases, ({ alias }) => alias);
  }

  /** Whether a revision in (after, upTo] touched a symbol or an alias. */
  async changedBetween(after: number, upTo: number): Promise<boolean> {
    const [row] = await this.#engine.read`
      SELECT (SELECT count(*) FROM symbol WHERE revision > ${after} AND revision <= ${upTo})
           + (SELECT count(*) FROM alias WHERE revision > ${after} AND revision <= ${upTo}) AS n`;
    return Number(row.n) > 0;
  }

  /** Adds symbols and aliases, and brings those that are there up to date. Nothing is ever removed: codes are promises. */
  async upsert(symbols: readonly SymbolRecord[], aliases: readonly Alias[]): Promise<Changes> {
    return this.#engine.write((tx) => upsert(tx, symbols, aliases));
  }
}

export interface Changes {
  added: number;
  changed: number;
  unchanged: number;
}

export async function upsert(
  tx: SQL,
  symbols: readonly SymbolRecord[],
  aliases: readonly Alias[],
): Promise<Changes> {
  const revision = await nextRevision(tx, 'prices');
  const known = new Map<string, LedgerSymbol>();
  let lastId = 0;
  for (const row of await tx`SELECT * FROM symbol`) {
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

async function writeSymbol(tx: SQL, id: number, s: SymbolRecord, revision: number): Promise<void> {
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
    id: Number(row.id),
    code: String(row.code),
    name: String(row.name),
    category: String(row.category),
    currency: {
      code: String(row.currency_code),
      name: String(row.currency_name),
      symbol: String(row.currency_symbol),
    },
    unit: { symbol: String(row.unit_symbol), name: String(row.unit_name) },
    market: String(row.market),
    decimals: Number(row.decimals),
    status: row.status === 'deprecated' ? 'deprecated' : 'active',
    updateInterval: String(row.update_interval) as UpdateInterval,
    real: row.real_revision !== null,
  };
}
