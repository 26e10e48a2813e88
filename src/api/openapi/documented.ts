import type { Method } from '../model/endpoint.ts';
import { OPERATIONS } from './operations.ts';
import { PARAMETERS } from './parameters.ts';

/** The names of the query parameters of an operation. */
export function documentedParameters(method: Method, path: string): string[] {
  const template = path.replace(':id', '{id}');
  const operation = OPERATIONS.find((one) => one.method === method && one.path === template);
  const parameters = (operation?.parameters ?? []).map((name) => PARAMETERS[name]);
  return parameters.filter((one) => one.in === 'query').map(({ name }) => name);
}

/** Whether the operation GET `path` takes a parameter. */
export function isDocumented(path: string, parameter: string): boolean {
  const operation = OPERATIONS.find((one) => one.method === 'GET' && one.path === path);
  return operation?.parameters?.some((name) => PARAMETERS[name].name === parameter) ?? false;
}
