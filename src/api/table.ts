/** A column is text, or plain: a number or a truth value that is written as it is. */
export interface Column {
  name: string;
  kind: 'text' | 'plain';
}

/** An answer as flat rows. A cell is ready text; undefined where there is nothing. */
export interface Table {
  columns: readonly Column[];
  rows: readonly (readonly (string | undefined)[])[];
}

/** The columns of a table by name; those that begin with `#` are plain. */
export function columnsOf(names: string): readonly Column[] {
  return names
    .split(' ')
    .map((name) => (name.startsWith('#') ? { name: name.slice(1), kind: 'plain' } : { name, kind: 'text' }));
}

/** RFC 4180, with a header. Lines end in CRLF. */
export function csvOf({ columns, rows }: Table): string {
  let csv = `${columns.map((column) => column.name).join(',')}\r\n`;
  for (const row of rows) {
    for (let i = 0; i < columns.length; i++) {
      if (i > 0) csv += ',';
      const cell = row[i];
      if (cell !== undefined) csv += columns[i]!.kind === 'plain' ? cell : csvText(cell);
    }
    csv += '\r\n';
  }
  return csv;
}

/** One JSON object a line. */
export function ndjsonOf({ columns, rows }: Table): string {
  const keys = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  let lines = '';
  for (const row of rows) {
    for (let i = 0; i < columns.length; i++) {
      const cell = row[i];
      const plain = cell === undefined || columns[i]!.kind === 'plain';
      lines += keys[i]! + (plain ? (cell ?? 'null') : JSON.stringify(cell));
    }
    lines += '}\n';
  }
  return lines;
}

/** A spreadsheet takes text that begins so for a formula, and runs it. An apostrophe in front keeps it text. */
const FORMULA = /^[=+\-@\t\r]/;

function csvText(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
