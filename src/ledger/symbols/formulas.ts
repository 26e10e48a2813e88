import { ISO_CURRENCIES } from '../../market/currency.ts';
import { parseFormula } from '../../market/formula/parse.ts';
import { readFormula } from '../../market/formula/read.ts';
import { CODE_PATTERN } from '../../market/symbol.ts';
import { UNIT_SYMBOLS, unitNamed } from '../../market/unit.ts';
import { AlreadyExists, type DefinitionOptions } from '../already-exists.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { changedFields } from '../audit/entry.ts';
import type { Engine } from '../engine/engine.ts';
import { lockRevisions, nextRevision } from '../engine/revisions.ts';
import { asText, rowReader, type Sql } from '../engine/rows.ts';
import { sortBy } from '../engine/statements.ts';
import { aliasesIn } from './aliases.ts';

/** A formula that can be requested by a code of its own. */
export interface NamedFormula {
  code: string;
  name: string;
  /** Over symbols in braces, as in a request. */
  expression: string;
  /** What its values are quoted in; `none` for a ratio. */
  unit: string;
  currency: string;
}

/** What `unit` and `currency` are where a formula has none. */
export const NO_MEASURE = 'none';

const FORMULA = rowReader<NamedFormula>({
  code: asText,
  name: asText,
  expression: asText,
  unit: asText,
  currency: asText,
});

/** Named formulas. A deleted one leaves a row, so that followers see the change. */
export class FormulaStore {
  readonly #engine: Engine;
  readonly #audit: AuditLog;

  constructor(engine: Engine, audit: AuditLog) {
    this.#engine = engine;
    this.#audit = audit;
  }

  async list(): Promise<NamedFormula[]> {
    return listIn(this.#engine.read);
  }

  /** The codes of the formulas that use a symbol, by its code or an alias. */
  async using(symbol: string): Promise<string[]> {
    const { read } = this.#engine;
    const aliases = (await aliasesIn(read)).filter(({ code }) => code === symbol);
    const names = new Set([symbol, ...aliases.map(({ alias }) => alias)]);
    const uses = ({ expression }: NamedFormula) => {
      const parsed = parseFormula(expression);
      return 'codes' in parsed && parsed.codes.some((code) => names.has(code));
    };
    return (await listIn(read)).filter(uses).map(({ code }) => code);
  }

  /** Defines a formula, or replaces the definition of a code. Returns why it cannot be defined, or what is stored. */
  define(
    formula: NamedFormula,
    { onlyNew = false }: DefinitionOptions = {},
  ): Promise<NamedFormula | { problem: string }> {
    return this.#engine.write(async (tx) => {
      await lockRevisions(tx, 'prices'); // a concurrent definition must not be lost
      const before = (await listIn(tx)).find(({ code }) => code === formula.code);
      if (before && onlyNew) throw new AlreadyExists();
      const checked = await check(tx, formula);
      if ('problem' in checked) return checked;
      await writeFormula(tx, checked);
      await this.#audit.record(tx, {
        action: before ? 'formula.update' : 'formula.create',
        target: checked.code,
        details: before ? changedFields({ ...before }, { ...checked }) : { ...checked },
      });
      return checked;
    });
  }

  /** Returns false when there is no such formula. */
  undefine(code: string): Promise<boolean> {
    return this.#engine.write(async (tx) => {
      const revision = await nextRevision(tx, 'prices');
      const deleted = await tx`UPDATE formula SET deleted = 1, revision = ${revision}
        WHERE code = ${code} AND deleted = 0 RETURNING code`;
      if (deleted.length === 0) return false;
      await this.#audit.record(tx, { action: 'formula.delete', target: code });
      return true;
    });
  }
}

async function listIn(handle: Sql): Promise<NamedFormula[]> {
  const rows = await handle.unsafe(`SELECT ${FORMULA.columns} FROM formula WHERE deleted = 0`);
  return sortBy(rows.map(FORMULA.read), ({ code }) => code);
}

/** Writes formulas that are known to be right. */
export async function writeFormula(tx: Sql, formula: NamedFormula): Promise<void> {
  const { code, name, expression, unit, currency } = formula;
  const revision = await nextRevision(tx, 'prices');
  await tx`INSERT INTO formula (code, name, expression, unit, currency, deleted, revision)
    VALUES (${code}, ${name}, ${expression}, ${unit}, ${currency}, 0, ${revision})
    ON CONFLICT (code) DO UPDATE SET name = ${name}, expression = ${expression}, unit = ${unit},
      currency = ${currency}, deleted = 0, revision = ${revision}`;
}

/** The formula with its expression in one spelling, or why it cannot be defined. */
async function check(tx: Sql, formula: NamedFormula): Promise<NamedFormula | { problem: string }> {
  const { code, expression } = formula;
  if (!CODE_PATTERN.test(code)) {
    return { problem: `"${code}" is not a code: at most 32 capital letters, digits, dots and dashes` };
  }
  const parsed = readFormula(expression);
  if ('problem' in parsed) return { problem: `${parsed.problem} (at character ${parsed.at + 1})` };
  const symbols = await codesIn(tx, `SELECT code FROM symbol WHERE status IN ('active', 'deprecated')`);
  if (symbols.has(code)) return { problem: `${code} is the code of a symbol` };
  for (const { alias, code: symbol } of await aliasesIn(tx)) {
    if (alias === code) return { problem: `${code} is an alias of ${symbol}` };
    symbols.add(alias);
  }
  const formulas = await codesIn(tx, 'SELECT code FROM formula WHERE deleted = 0');
  for (const part of parsed.codes) {
    if (part === code || formulas.has(part)) {
      return { problem: `${part} is a formula: a formula is made of symbols, not of other formulas` };
    }
    if (!symbols.has(part)) return { problem: `there is no symbol ${part}` };
  }
  const unit = await unitOf(tx, formula);
  if (unit === undefined) {
    const accepted = `send none, the unit of a symbol, or one of ${UNIT_SYMBOLS.join(', ')}`;
    return { problem: `"${formula.unit}" is not a unit: ${accepted}` };
  }
  const currency = await currencyOf(tx, formula);
  if (currency === undefined) {
    const accepted = 'send none, the currency of a symbol, or an ISO 4217 code such as USD';
    return { problem: `"${formula.currency}" is not a currency: ${accepted}` };
  }
  return { ...formula, expression: parsed.text, unit, currency };
}

/** The unit in the spelling of the catalogue; undefined if nothing is quoted in it. A formula may keep the unit that it has. */
async function unitOf(tx: Sql, { code, unit }: NamedFormula): Promise<string | undefined> {
  const known = unitNamed(unit);
  if (known !== undefined) return known;
  const rows = await tx`SELECT unit_symbol AS unit FROM symbol WHERE status IN ('active', 'deprecated')
    UNION SELECT unit FROM formula WHERE code = ${code}`;
  const units = [NO_MEASURE, ...rows.map((row) => asText(row.unit))];
  return units.find((one) => one.toLowerCase() === unit.toLowerCase());
}

/** The code of the currency; undefined if nothing can be quoted in it. A formula may keep the currency that it has. */
async function currencyOf(tx: Sql, { code, currency }: NamedFormula): Promise<string | undefined> {
  const rows = await tx`SELECT DISTINCT currency_code AS currency FROM symbol
    UNION SELECT currency FROM formula WHERE code = ${code}`;
  const known = [NO_MEASURE, ...rows.map((row) => asText(row.currency)), ...ISO_CURRENCIES];
  return known.find((one) => one.toLowerCase() === currency.toLowerCase());
}

async function codesIn(tx: Sql, statement: string): Promise<Set<string>> {
  return new Set((await tx.unsafe(statement)).map((row) => asText(row.code)));
}
