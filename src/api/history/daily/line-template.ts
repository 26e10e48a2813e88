import { type FlatColumn, type TextFormat, tableWriter } from '../../model/table.ts';

/** The text of a line around its date and its prices, which are the same for all days of a symbol and a source. */
export interface LineTemplate {
  beforeDate: Uint8Array;
  beforeOpen: Uint8Array;
  beforeHigh: Uint8Array;
  beforeLow: Uint8Array;
  beforeClose: Uint8Array;
  afterClose: Uint8Array;
  /** Set if the line repeats the close as its average. */
  afterAverage: Uint8Array | undefined;
}

/** Stands for a price. No text contains it: JSON escapes it, and no name has control characters. */
const PRICE = '\0';
const DATE = 'YYYY-MM-DD';

/** `texts` are the cells that are neither dates nor prices, by column. */
export function lineTemplate(
  format: TextFormat,
  columns: readonly FlatColumn[],
  texts: Readonly<Record<string, string>>,
): LineTemplate {
  const cells = columns.map(({ name, type }) => texts[name] ?? (type === 'date' ? DATE : PRICE));
  const line = tableWriter(format).body(columns, [cells]);
  const dateAt = line.indexOf(DATE);
  const [beforeOpen, ...rest] = line
    .slice(dateAt + DATE.length)
    .split(PRICE)
    .map((text) => Buffer.from(text));
  const [beforeHigh, beforeLow, beforeClose, afterClose, afterAverage] = rest;
  return {
    beforeDate: Buffer.from(line.slice(0, dateAt)),
    beforeOpen: beforeOpen!,
    beforeHigh: beforeHigh!,
    beforeLow: beforeLow!,
    beforeClose: beforeClose!,
    afterClose: afterClose!,
    afterAverage,
  };
}

/** The bytes of a line besides its date and prices. */
export function constantBytes({ afterAverage, ...parts }: LineTemplate): number {
  return Object.values(parts).reduce((sum, { length }) => sum + length, afterAverage?.length ?? 0);
}
