import type { TextRow } from '../csv/row-splitter.ts';
import type { Layout } from './layout.ts';

/** A table of prices with a known layout. Its rows can be read any number of times. */
export interface PriceTable {
  layout: Pick<Layout, 'columns' | 'headerCells'>;
  /** Separates the cells. If it is a comma, a comma inside a cell groups thousands. */
  delimiter: string;
  /** The rows of data, in batches. `onRead` receives the number of bytes of the file read so far. */
  rows(onRead?: (fileBytes: number) => void): AsyncIterable<TextRow[]>;
}
