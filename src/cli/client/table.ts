export interface Column {
  head: string;
  /** Numbers are aligned at the right, texts at the left. */
  isNumber?: true;
}

/** A table for people: a head, aligned columns, two spaces between them. */
export function alignedTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const heads = columns.map(({ head }) => head);
  const widths = columns.map((_, i) =>
    Math.max(...[heads, ...rows].map((row) => Bun.stringWidth(row[i] ?? ''))),
  );
  const line = (row: readonly string[]) =>
    columns
      .map(({ isNumber }, i) => {
        const cell = row[i] ?? '';
        const space = ' '.repeat(widths[i]! - Bun.stringWidth(cell));
        return isNumber ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd();
  return [heads, ...rows].map(line).join('\n');
}

/** Decimal digits with a comma between thousands: 12,345.678. */
export function separated(digits: string): string {
  const [whole = '', fraction] = digits.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Numbers with their points below each other. `fill` follows the shorter ones: zeros if all have the same precision. */
export function aligned(numbers: readonly string[], fill: '0' | ' '): string[] {
  const places = Math.max(0, ...numbers.map((text) => text.split('.')[1]?.length ?? 0));
  if (places === 0) return numbers.map(separated);
  return numbers.map((text) => {
    const fraction = text.split('.')[1];
    const point = fraction === undefined ? (fill === '0' ? '.' : ' ') : '';
    return separated(text) + point + fill.repeat(places - (fraction?.length ?? 0));
  });
}

const BLOCKS = '▁▂▃▄▅▆▇█';

/** A line of blocks whose heights follow the values. */
export function sparkline(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const step = (high - low) / (BLOCKS.length - 1);
  return values.map((value) => BLOCKS[step === 0 ? 3 : Math.round((value - low) / step)]).join('');
}
