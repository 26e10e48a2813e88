import type { ApiOperation, ApiParameter } from './document.ts';

/** What the reader has entered, by the name of the parameter. */
export type Values = Readonly<Record<string, string>>;

/** Examples are filled in, so that the request can be sent as it is. */
export function initialValues(parameters: readonly ApiParameter[]): Values {
  return Object.fromEntries(parameters.map(({ name, example }) => [name, example ?? '']));
}

/** The path with its parameters and query. A path parameter without a value stays as it is written, `{id}`. */
export function pathOf({ path, parameters }: ApiOperation, values: Values): string {
  const given = parameters.filter(({ name }) => values[name]);
  const query = new URLSearchParams(
    given.filter((one) => one.in === 'query').map(({ name }) => [name, values[name]!]),
  );
  const filled = given
    .filter((one) => one.in === 'path')
    .reduce((all, { name }) => all.replace(`{${name}}`, encodeURIComponent(values[name]!)), path);
  return query.size === 0 ? filled : `${filled}?${query}`;
}

/** The headers of a request with a key or a token. */
export function headersOf(
  { needs, body, parameters }: ApiOperation,
  secret: string,
  values: Values,
): Record<string, string> {
  const own = parameters.filter((one) => one.in === 'header' && values[one.name]);
  return {
    ...(needs === 'key' && { 'x-api-key': secret }),
    ...(needs === 'admin' && { authorization: `Bearer ${secret}` }),
    ...(body && { 'content-type': body.type }),
    ...Object.fromEntries(own.map(({ name }) => [name, values[name]!])),
  };
}

/** Names of required parameters without a value. */
export function missingIn({ parameters }: ApiOperation, values: Values): string[] {
  return parameters.filter(({ name, required }) => required && !values[name]).map(({ name }) => name);
}
