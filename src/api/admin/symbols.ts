import type { z } from 'zod';
import type { DefinitionOptions } from '../../ledger/already-exists.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { SYMBOL_FIELDS, type SYMBOL_FILE } from '../../ledger/symbols/symbol-schema.ts';
import { recordOf, SymbolConflict } from '../../ledger/symbols/symbols.ts';
import type { Changes } from '../../ledger/symbols/upsert-symbols.ts';
import { CODE_PATTERN } from '../../market/symbol.ts';
import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { adminEndpoint } from './admin-endpoint.ts';
import { SYMBOL_LIST } from './bodies.ts';
import { define, requireConfirmation } from './preconditions.ts';

/** As long as a request may be. */
const LIST_CHARACTERS_MAX = 1_048_576;

/** /admin/symbols: lists, defines and deletes symbols. */
export const adminSymbols: readonly AdminEndpoint[] = [
  adminEndpoint('/admin/symbols', {
    async GET({ ledger }) {
      const aliases = Map.groupBy(await ledger.symbols.aliases(), ({ code }) => code);
      const symbols = (await ledger.symbols.list()).map((symbol) => ({
        ...recordOf(symbol),
        aliases: (aliases.get(symbol.code) ?? []).map(({ alias }) => alias),
        real: symbol.real,
      }));
      return { success: true, symbols };
    },
    /** Adds and changes many symbols, or none of them. */
    async POST({ ledger, body }) {
      const { symbols } = await body(SYMBOL_LIST, LIST_CHARACTERS_MAX);
      return { success: true, ...(await upsert(ledger, symbols)) };
    },
  }),
  adminEndpoint('/admin/symbols/:id', {
    /** Creates a symbol, or replaces its fields. Aliases are added; none is removed. */
    async PUT(call) {
      const { id: code, ledger, body } = call;
      if (!CODE_PATTERN.test(code)) {
        const problem = 'a code has at most 32 capital letters, digits, dots and dashes';
        throw refuse('invalid_body', { problems: [problem] });
      }
      const { aliases, ...fields } = await body(SYMBOL_FIELDS);
      const { added } = await define(call, 'symbol', (options) =>
        upsert(ledger, [{ code, ...fields, aliases }], options),
      );
      return { success: true, symbol: { code, ...fields }, created: added > 0 };
    },
    /** Hides the symbol at once. Its rows are deleted in the background. Names the formulas that have no values without it. */
    async DELETE({ id: code, query, ledger }) {
      const symbol = (await ledger.symbols.list()).find((one) => one.code === code);
      if (!symbol) throw refuse('not_there', { what: 'symbol', id: code.slice(0, 64) });
      requireConfirmation(query, code, 'all its prices and their revisions');
      const formulas = await ledger.formulas.using(code);
      await ledger.symbols.markDeleted(symbol.id);
      return { success: true, symbol: code, deleted: true, formulas };
    },
  }),
];

async function upsert(
  { symbols }: Ledger,
  records: z.infer<typeof SYMBOL_FILE>,
  options: DefinitionOptions = {},
): Promise<Changes> {
  const aliases = records.flatMap(({ code, aliases = [] }) =>
    aliases.map((alias) => ({ alias, code, kind: 'operator' })),
  );
  try {
    return await symbols.upsert(records, aliases, options);
  } catch (error) {
    throw error instanceof SymbolConflict ? refuse('conflict', { why: error.message }) : error;
  }
}
