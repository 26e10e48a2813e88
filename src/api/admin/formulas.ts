import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { adminEndpoint } from './admin-endpoint.ts';
import { FORMULA_DEFINITION } from './bodies.ts';
import { define } from './preconditions.ts';

/** /admin/formulas: lists, defines and deletes named formulas. */
export const adminFormulas: readonly AdminEndpoint[] = [
  adminEndpoint('/admin/formulas', {
    async GET({ ledger }) {
      return { success: true, formulas: await ledger.formulas.list() };
    },
  }),
  adminEndpoint('/admin/formulas/:id', {
    async PUT(call) {
      const code = call.id.toUpperCase();
      const definition = await call.body(FORMULA_DEFINITION);
      const outcome = await define(call, 'formula', (options) =>
        call.ledger.formulas.define({ ...definition, code }, options),
      );
      if ('problem' in outcome) throw refuse('invalid_body', { problems: [outcome.problem] });
      return { success: true, formula: outcome };
    },
    async DELETE({ id, ledger }) {
      const code = id.toUpperCase();
      if (!(await ledger.formulas.undefine(code))) {
        throw refuse('not_there', { what: 'formula', id: code.slice(0, 64) });
      }
      return { success: true, formula: code, deleted: true };
    },
  }),
];
