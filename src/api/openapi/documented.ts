import { OPERATIONS } from './operations.ts';
import { PARAMETERS } from './parameters.ts';

/** Whether the operation GET `path` takes a parameter. */
export function isDocumented(path: string, parameter: string): boolean {
  const operation = OPERATIONS.find((one) => one.method === 'GET' && one.path === path);
  return operation?.parameters?.some((name) => PARAMETERS[name].name === parameter) ?? false;
}
