import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { requireConfirmation } from './confirmation.ts';

/** DELETE /admin/symbols/CODE: not served any more at once; its rows are deleted in the background. */
export const adminSymbols: readonly AdminEndpoint[] = [
  {
    kind: 'admin',
    name: 'admin',
    path: '/admin/symbols/:id',
    actions: {
      async DELETE({ id: code, query, ledger }) {
        const symbol = (await ledger.symbols.list()).find((one) => one.code === code);
        if (!symbol) throw refuse('not_there', { what: 'symbol', id: code.slice(0, 64) });
        requireConfirmation(query, code, 'all its prices and their revisions');
        await ledger.symbols.markDeleted(symbol.id);
        return { success: true, symbol: code, deleted: true };
      },
    },
  },
];
