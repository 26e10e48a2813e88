import type { Derivation } from '../../market/analytics/closes.ts';
import { refuse } from '../errors/errors.ts';
import type { QueryParams } from '../model/query.ts';
import type { Format } from '../model/table.ts';
import { readChoice } from './derivation.ts';

/** One row per date and symbol, or one row per date with a column per symbol. */
const LAYOUTS = ['long', 'wide'] as const;

/**
 * Reads `layout` and `field`; undefined if the layout is long, otherwise the field in the cells: by default what is derived,
 * or the close.
 */
export function readWideField(
  query: QueryParams,
  format: Format,
  fields: readonly string[],
  derivation: Derivation | undefined,
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
  const { transform, moving } = derivation ?? {};
  const cells = field ?? transform ?? (moving === undefined ? 'close' : 'moving');
  if (transform !== undefined && cells !== transform) throw unused('transform', transform, cells);
  if (moving !== undefined && cells !== 'moving') throw unused('moving', String(moving), cells);
  return cells;
}

/** A cell has one field, so another derived field would have no effect. */
function unused(name: string, received: string, cells: string) {
  return refuse('invalid_parameter', {
    name,
    received,
    expected: `left out, because the cells of layout=wide have one field, here "${cells}"`,
  });
}
