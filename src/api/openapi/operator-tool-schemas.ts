import { z } from 'zod';
import { AUDIT_ACTIONS, AUDIT_WAYS } from '../../ledger/audit/entry.ts';
import { success, text } from './schema-parts.ts';

const moment = z.iso.datetime();

/** Responses of the operator's tools. */
export const OPERATOR_TOOL_SCHEMAS = {
  AuditEntries: z.strictObject({
    success,
    entries: z.array(
      z.strictObject({
        id: text,
        at: moment,
        actor: text.describe('A user of the machine, the name that the operator gave, or a customer’s key'),
        via: z.enum(AUDIT_WAYS).describe('A command, the admin API, the operator page, or a customer’s key'),
        address: text.nullable().describe('The client’s address; null for a command'),
        action: z.enum(AUDIT_ACTIONS),
        target: text.describe('What was changed, such as an account or a plan'),
        details: z.record(text, z.unknown()).describe('A changed field is a pair: before and after'),
      }),
    ),
    next: text.nullable().describe('The path of the next page; null on the last one'),
  }),
} as const satisfies Record<string, z.ZodType>;
