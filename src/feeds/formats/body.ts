/** More than any provider sends: the full ECB history is 2 MB unzipped, the Pink Sheet 4 MB. */
export const UNZIPPED_BYTES_MAX = 64 * 1024 * 1024;

/** The expected kind of a body. HTML instead of CSV is a failure, whatever the status. */
export type BodyKind = 'csv' | 'json' | 'xml' | 'xlsx' | 'zip' | 'html';

/** How much of a body is read to find its kind. */
const HEAD_BYTES = 2_048;
/** How much of the end of a zip is searched for file names. */
const TAIL_BYTES = 65_536;

/** What may precede the first significant tag. */
const PROLOGUE = /^(\s|<\?xml[^>]*>|<!--[\s\S]*?-->)+/;
const HTML = /^<(!doctype\s+html|html|head|body|script|title|meta)\b/i;

/**
 * The kind of a body, from its bytes. A provider with a problem, or one that blocks clients, may send a web page with status
 * 200. Text of no other kind counts as CSV.
 */
export function kindOf(body: Uint8Array): BodyKind | 'empty' | 'binary' {
  if (startsWith(body, [0x50, 0x4b, 3]) || startsWith(body, [0x50, 0x4b, 5])) {
    return isWorkbook(body) ? 'xlsx' : 'zip';
  }
  const head = decode(body.subarray(0, HEAD_BYTES));
  if (head.trim() === '') return 'empty';
  if (head.includes('\0') || startsWith(body, [0x1f, 0x8b])) return 'binary';
  const start = head.replace(PROLOGUE, '');
  if (HTML.test(start)) return 'html';
  if (head.trimStart().startsWith('<')) return 'xml';
  return /^[{[]/.test(start) ? 'json' : 'csv';
}

const NAMES: Readonly<Record<ReturnType<typeof kindOf>, string>> = {
  csv: 'CSV',
  json: 'JSON',
  xml: 'XML',
  xlsx: 'XLSX',
  zip: 'a zip',
  html: 'HTML',
  empty: 'empty',
  binary: 'binary',
};

/** A kind in words, for messages. */
export function kindName(kind: ReturnType<typeof kindOf>): string {
  return NAMES[kind];
}

/** A body as text. Throws if it is empty, a web page, zipped or not text. */
export function textOf(body: Uint8Array, wanted: string): string {
  const kind = kindOf(body);
  if (kind === 'empty') throw new Error(`the body is empty where ${wanted} was expected`);
  if (kind === 'html') throw new Error(`the body is a web page (HTML) where ${wanted} was expected`);
  if (kind === 'zip' || kind === 'xlsx')
    throw new Error(`the body is a zip file where ${wanted} was expected`);
  const text = decode(body);
  if (text.includes('\0')) throw new Error(`the body is not text where ${wanted} was expected`);
  return text;
}

/** UTF-8, or UTF-16 if there is a byte order mark, which is removed. */
export function decode(body: Uint8Array): string {
  return new TextDecoder(encodingOf(body)).decode(body);
}

/** The encoding that the byte order mark at the start of a text names. */
export function encodingOf(start: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : 'utf-8';
}

function startsWith(body: Uint8Array, bytes: readonly number[]): boolean {
  return bytes.every((byte, i) => body[i] === byte);
}

/** A workbook is a zip with these files. */
function isWorkbook(body: Uint8Array): boolean {
  const names = new TextDecoder('latin1').decode(body.subarray(-TAIL_BYTES));
  return names.includes('[Content_Types].xml') && names.includes('xl/');
}
