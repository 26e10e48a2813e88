import type { QueryParams } from '../model/query.ts';
import { readFlag } from './parameters.ts';

/** Reads `dryRun`. A value such as `1` is refused: it would cost a unit although the client meant a dry run. */
export function readDryRun(query: QueryParams): boolean {
  return readFlag(query, 'dryRun');
}
