import { ACCOUNT_SCHEMAS } from './account.ts';
import { OPERATOR_SCHEMAS } from './operator.ts';
import { OPERATOR_TOOL_SCHEMAS } from './operator-tools.ts';
import { RATE_SCHEMAS } from './rates.ts';
import { SERVICE_SCHEMAS } from './service.ts';

/** Strict schemas of all responses: an extra or missing field fails the tests. The OpenAPI document is generated from them. */
export const SCHEMAS = {
  ...RATE_SCHEMAS,
  ...ACCOUNT_SCHEMAS,
  ...OPERATOR_SCHEMAS,
  ...OPERATOR_TOOL_SCHEMAS,
  ...SERVICE_SCHEMAS,
};

export type SchemaName = keyof typeof SCHEMAS;
