import type { Day } from '../../../market/day.ts';
import type { EncodedRows } from '../../model/long-table.ts';

/** The lines of some bars of one symbol, in order. */
export interface TableLines {
  /** The day of the next line; Infinity after the last one. */
  readonly nextDay: Day;
  /** Whether the next line is rendered. If not, its page is rendered when it is needed, in up to a millisecond. */
  readonly isRendered: boolean;
  /** The length of the next line, in bytes. */
  readonly nextLength: number;
  /** Writes the next line. Returns where it ends. */
  write(to: Uint8Array, at: number): number;
  /** The next lines, as many as are ready. */
  takePage(): EncodedRows;
  /** All remaining lines, if they are in memory as text, and otherwise undefined. */
  takeReady(): readonly EncodedRows[] | undefined;
}
