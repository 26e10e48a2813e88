import { z } from 'zod';
import { NO_MEASURE } from '../../ledger/symbols/formulas.ts';
import { FORMULA_LENGTH_MAX } from '../../market/formula/parse.ts';
import { isPlainText, NOT_PLAIN } from '../../runtime/plain-text.ts';
import { refuse } from '../errors/errors.ts';
import type { AdminEndpoint } from '../model/endpoint.ts';
import { adminEndpoint } from './admin-endpoint.ts';

const word = z.string().refine(isPlainText, NOT_PLAIN).trim().min(1).max(32);

/** The body of a definition. */
export const FORMULA_DEFINITION = z.strictObject({
  expression: z
    .string()
    .min(1)
    .max(FORMULA_LENGTH_MAX)
    .describe('Over symbols in braces: `{BRENTOIL-FUT}-{WTIOIL-FUT}`'),
  name: z.string().refine(isPlainText, NOT_PLAIN).trim().min(1).max(200),
  unit: word.default(NO_MEASURE).describe('What a value is quoted for; `none` for a ratio'),
  currency: word.default(NO_MEASURE).describe('What a value is quoted in; `none` for a ratio'),
});

/** /admin/formulas: lists, defines and deletes named formulas. */
export const adminFormulas: readonly AdminEndpoint[] = [
  adminEndpoint('/admin/formulas', {
    async GET({ ledger }) {
      return { success: true, formulas: await ledger.formulas.list() };
    },
  }),
  adminEndpoint('/admin/formulas/:id', {
    async PUT({ id, ledger, body }) {
      const definition = await body(FORMULA_DEFINITION);
      const outcome = await ledger.formulas.define({ ...definition, code: id.toUpperCase() });
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
