import type { BodyKind } from './provider.ts';

/** How far into a body its kind is looked for. A page's first tag may come after a comment. */
const HEAD_BYTES = 1_024;
/** The names of a zip's files stand at its end. */
const TAIL_BYTES = 65_536;

const HTML = /<(!doctype\s+html|html|head|body|script|title|meta)\b/i;

/** What a body is, by its bytes. A provider that is in trouble, or does not like us, sends a page with status 200. */
export function kindOf(body: Uint8Array): BodyKind | 'empty' | 'binary' {
  if (startsWith(body, [0x50, 0x4b, 0x03, 0x04])) return isWorkbook(body) ? 'xlsx' : 'zip';
  const text = new TextDecoder().decode(body.subarray(0, HEAD_BYTES)).trimStart();
  if (text === '') return 'empty';
  if (text.includes('\0') || startsWith(body, [0x1f, 0x8b])) return 'binary';
  if (text.startsWith('<')) return HTML.test(text) ? 'html' : 'xml';
  return /^[[{]/.test(text) ? 'json' : 'csv';
}

function startsWith(body: Uint8Array, bytes: readonly number[]): boolean {
  return bytes.every((byte, i) => body[i] === byte);
}

/** A workbook is a zip with these files in it. */
function isWorkbook(body: Uint8Array): boolean {
  const names = new TextDecoder('latin1').decode(body.subarray(-TAIL_BYTES));
  return names.includes('[Content_Types].xml') && names.includes('xl/');
}
