import { refuse } from '../errors/errors.ts';
import type { QueryParams } from '../model/query.ts';
import type { Format } from '../model/table.ts';
import { readChoice } from './derivation.ts';

/** One row per date and symbol, or one row per date with a column per symbol. */
const LAYOUTS = ['long', 'wide'] as const;

/** Reads `layout` and `field`; undefined if the layout is long, otherwise the field in the cells. */
export function readWideField(
  query: QueryParams,
  format: Format,
  fields: readonly string[],
  standard: string,
): string | undefined {
  const layout = readChoice(query, 'layout', LAYOUTS);
  const field = readChoice(query, 'field', fields);
  if (layout !== 'wide') {
    if (field === undefined) return undefined;
    throw refuse('invalid_parameter', { name: 'field', received: field, expected: 'sent with layout=wide' });
  }
  if (format === 'json') {
    const expected = 'sent with format=csv, ndjson or parquet';
    throw refuse('invalid_parameter', { name: 'layout', received: layout, expected });
  }
  return field ?? standard;
}
