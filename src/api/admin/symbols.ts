import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { adminEndpoint } from './admin-endpoint.ts';
import { requireConfirmation } from './confirmation.ts';

/** DELETE /admin/symbols/CODE: hides the symbol at once and deletes its rows in the background. */
export const adminSymbols: AdminEndpoint = adminEndpoint('/admin/symbols/:id', {
  async DELETE({ id: code, query, ledger }) {
    const symbol = (await ledger.symbols.list()).find((one) => one.code === code);
    if (!symbol) throw refuse('not_there', { what: 'symbol', id: code.slice(0, 64) });
    requireConfirmation(query, code, 'all its prices and their revisions');
    await ledger.symbols.markDeleted(symbol.id);
    return { success: true, symbol: code, deleted: true };
  },
});
