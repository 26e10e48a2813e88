import { printNumber } from '../../market/decimal.ts';
import type { IntervalRow } from './interval-rows.ts';

/** Numbers of a row beyond its bar, in order. */
export interface RowFields {
  names: readonly string[];
  /** One per name, as decimal text; undefined where the row has no value. */
  values(row: IntervalRow): readonly (string | undefined)[];
}

/** The mean of the closes of a row, and their number. */
export const AVERAGES: RowFields = {
  names: ['average', 'count'],
  values: ({ average, bars }) => [printNumber(average), String(bars)],
};

export const NO_FIELDS: RowFields = { names: [], values: () => [] };

/** `,"average":16.55,"count":21`. A field without a value is left out. */
export function fieldsJson({ names, values }: RowFields, row: IntervalRow): string {
  let json = '';
  const found = values(row);
  for (let i = 0; i < found.length; i++) {
    if (found[i] !== undefined) json += `,"${names[i]}":${found[i]}`;
  }
  return json;
}
