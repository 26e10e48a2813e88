import { refuse } from '../errors/errors.ts';
import type { QueryParams } from '../model/query.ts';
import { echo, singleUnlessEmpty } from './parameters.ts';

/** Reads `dryRun`. A value such as `1` is refused: it would cost a unit although the client meant a dry run. */
export function readDryRun(query: QueryParams): boolean {
  const received = singleUnlessEmpty(query, 'dryRun');
  if (received === undefined || received.toLowerCase() === 'false') return false;
  if (received.toLowerCase() === 'true') return true;
  throw refuse('invalid_parameter', { name: 'dryRun', received: echo(received), expected: 'true or false' });
}
