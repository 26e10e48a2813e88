import { SYMBOL_FIELDS } from '../../ledger/symbols/symbol-schema.ts';
import { recordOf, SymbolConflict } from '../../ledger/symbols/symbols.ts';
import { CODE_PATTERN } from '../../market/symbol.ts';
import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { adminEndpoint } from './admin-endpoint.ts';
import { requireConfirmation } from './confirmation.ts';

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
  }),
  adminEndpoint('/admin/symbols/:id', {
    /** Creates a symbol, or replaces its fields. Aliases are added; none is removed. */
    async PUT({ id: code, ledger, body }) {
      if (!CODE_PATTERN.test(code)) {
        const problem = 'a code has at most 32 capital letters, digits, dots and dashes';
        throw refuse('invalid_body', { problems: [problem] });
      }
      const { aliases = [], ...fields } = await body(SYMBOL_FIELDS);
      const named = aliases.map((alias) => ({ alias, code, kind: 'operator' }));
      const changes = await ledger.symbols.upsert([{ code, ...fields }], named).catch((error) => {
        throw error instanceof SymbolConflict ? refuse('conflict', { why: error.message }) : error;
      });
      return { success: true, symbol: { code, ...fields }, created: changes.added > 0 };
    },
    /** Hides the symbol at once. Its rows are deleted in the background. */
    async DELETE({ id: code, query, ledger }) {
      const symbol = (await ledger.symbols.list()).find((one) => one.code === code);
      if (!symbol) throw refuse('not_there', { what: 'symbol', id: code.slice(0, 64) });
      requireConfirmation(query, code, 'all its prices and their revisions');
      await ledger.symbols.markDeleted(symbol.id);
      return { success: true, symbol: code, deleted: true };
    },
  }),
];
