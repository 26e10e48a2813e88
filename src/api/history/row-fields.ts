import type { Derivation } from '../../market/analytics/closes.ts';
import { printNumber } from '../../market/decimal.ts';
import type { ColumnType } from '../model/table.ts';
import type { IntervalRow } from './interval-rows.ts';

/** Numbers of a row beyond its bar, in order. */
export interface RowFields {
  names: readonly string[];
  /** One per name, as decimal text; undefined where the row has no value. */
  values(row: IntervalRow): readonly (string | undefined)[];
}

/** The type of a field's column. */
export function typeOfField(name: string): ColumnType {
  return name === 'count' ? 'integer' : 'number';
}

/** The mean of the closes of a row, and their number. */
export const AVERAGES: RowFields = {
  names: ['average', 'count'],
  values: ({ average, bars }) => [printNumber(average), String(bars)],
};

/** What a row derives from closes comes before its average. */
export function fieldsOf(derivation: Derivation | undefined): RowFields {
  if (!derivation) return AVERAGES;
  const { transform, moving } = derivation;
  const names = [...(transform ? [transform] : []), ...(moving ? ['moving'] : []), ...AVERAGES.names];
  return {
    names,
    values: (row) => {
      const values: (string | undefined)[] = [];
      if (transform) values.push(row.transformed);
      if (moving) values.push(row.movingAverage === undefined ? undefined : printNumber(row.movingAverage));
      values.push(...AVERAGES.values(row));
      return values;
    },
  };
}

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
