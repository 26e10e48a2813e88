import type { Api, Reply } from './api.ts';

export const OPERATOR_TOKEN = 'a-long-token-of-the-operator';

/** Settings of a service that has an operator. */
export const OPERATOR_SETTINGS = { OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN };

export const OPERATOR_HEADERS = { authorization: `Bearer ${OPERATOR_TOKEN}` };

/** Sends requests of the operator, with bodies as JSON. */
export function operatorOf(api: Api) {
  return (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> =>
    api.ask(path, {
      method,
      key: '',
      headers: { ...OPERATOR_HEADERS, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
}
