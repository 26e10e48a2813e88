import type { TextRow } from '../formats/table.ts';
import type { Layout } from './layout.ts';

/** A table of prices whose layout is known. Its rows can be read as often as needed. */
export interface PriceTable {
  layout: Pick<Layout, 'columns'>;
  /** What separates the cells: where it is a comma, one inside a cell groups thousands. */
  delimiter: string;
  /** The rows of data, some at a time. `onRead` is told how many bytes of the file have been read. */
  rows(onRead?: (fileBytes: number) => void): AsyncIterable<TextRow[]>;
}
