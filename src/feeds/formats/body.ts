/** A body of this size, once unzipped, is more than any provider sends: the full ECB history is 2 MB, the Pink Sheet 4 MB. */
export const UNZIPPED_BYTES_MAX = 64 * 1024 * 1024;

/** What the first bytes of a body say it is, whatever its name or its status says. */
export function sniff(body: Uint8Array): 'empty' | 'zip' | 'html' | 'xml' | 'json' | 'text' {
  if (body[0] === 0x50 && body[1] === 0x4b && (body[2] === 3 || body[2] === 5)) return 'zip';
  const start = decode(body.subarray(0, 2048))
    .replace(/^(\s|<\?xml[^>]*>|<!--[\s\S]*?-->)+/, '')
    .toLowerCase();
  if (decode(body.subarray(0, 2048)).trim() === '') return 'empty';
  if (/^<(!doctype html|html|head|body|script|title|meta)\b/.test(start)) return 'html';
  if (start.startsWith('<')) return 'xml';
  return /^[{[]/.test(start) ? 'json' : 'text';
}

/** A body as text. Throws a plain reason when it is empty, a web page, or not text at all. */
export function textOf(body: Uint8Array, wanted: string): string {
  const kind = sniff(body);
  if (kind === 'empty') throw new Error(`the body is empty where ${wanted} was expected`);
  if (kind === 'html') throw new Error(`the body is a web page (HTML) where ${wanted} was expected`);
  if (kind === 'zip') throw new Error(`the body is a zip file where ${wanted} was expected`);
  const text = decode(body);
  if (text.includes('\0')) throw new Error(`the body is not text where ${wanted} was expected`);
  return text;
}

/** UTF-8, or UTF-16 where a byte order mark says so, without the mark. */
export function decode(body: Uint8Array): string {
  if (body[0] === 0xff && body[1] === 0xfe) return new TextDecoder('utf-16le').decode(body);
  return new TextDecoder().decode(body);
}
