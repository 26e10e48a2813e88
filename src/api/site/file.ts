import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { type Reply, reply } from '../../http/message/reply.ts';
import { type Encoding, etagOfEncoding, etagOfMatch, matches } from '../response/etag.ts';
import { acceptsBrotli, acceptsGzip, PLAIN_BYTES_MAX } from '../response/gzip.ts';

/** A static file, compressed in advance. */
export interface SiteFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer> | undefined;
  /** A seventh smaller than `gzipped`. */
  readonly brotli: Uint8Array<ArrayBuffer> | undefined;
  /** The tag of `bytes`. */
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
};

/** Files are compressed once, so the short ones are, too. Below this, the header that names the encoding takes what it saves. */
const COMPRESS_FILES_FROM_BYTES = 256;

/** Brotli takes two seconds per megabyte. It runs in a thread, on the first request for a page. */
const BROTLI_BYTES_MAX = 400_000;

export async function siteFile(
  content: string | Uint8Array<ArrayBuffer>,
  extension: string,
): Promise<SiteFile> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const isCompressible = bytes.length > COMPRESS_FILES_FROM_BYTES && extension !== 'png';
  return {
    type: TYPES[extension] ?? 'application/octet-stream',
    bytes,
    gzipped: isCompressible ? Bun.gzipSync(bytes, { level: 9 }) : undefined,
    brotli: isCompressible && bytes.length <= BROTLI_BYTES_MAX ? await brotliOf(bytes) : undefined,
    etag: `"${(Bun.hash(bytes) as bigint).toString(36)}"`,
  };
}

/** Files by name; the extension determines the type. */
export async function siteFiles(
  contents: readonly (readonly [name: string, content: string | Uint8Array<ArrayBuffer>])[],
): Promise<Map<string, SiteFile>> {
  const files = contents.map(async ([name, content]) => {
    return [name, await siteFile(content, name.slice(name.lastIndexOf('.') + 1))] as const;
  });
  return new Map(await Promise.all(files));
}

async function brotliOf(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await promisify(brotliCompress)(bytes));
}

/** Sends JSON that is made for the request and may not be stored. */
export function sendUncached(value: unknown, request: IncomingRequest): Reply {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const headers = {
    'Content-Type': TYPES.json!,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  };
  if (bytes.length <= PLAIN_BYTES_MAX || !acceptsGzip(request.headers.get('accept-encoding')))
    return reply(bytes, headers);
  return reply(Bun.gzipSync(bytes), { ...headers, 'Content-Encoding': 'gzip' });
}

/** Sends a file. `immutable` is for files whose name contains their hash; clients revalidate all others. */
export function sendFile(
  file: SiteFile,
  request: IncomingRequest,
  headers: Readonly<Record<string, string>>,
  immutable: boolean,
): Reply {
  const all = {
    ...headers,
    'Content-Type': file.type,
    'Cache-Control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: file.etag,
    Vary: 'Accept-Encoding',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };
  const ifNoneMatch = request.headers.get('if-none-match');
  if (ifNoneMatch !== null && matches(ifNoneMatch, file.etag)) {
    return reply(null, { ...all, ETag: etagOfMatch(ifNoneMatch, file.etag) }, 304);
  }
  const accepted = request.headers.get('accept-encoding');
  if (file.brotli && acceptsBrotli(accepted)) return reply(file.brotli, encoded(all, 'br'));
  if (file.gzipped && acceptsGzip(accepted)) return reply(file.gzipped, encoded(all, 'gzip'));
  return reply(file.bytes, all);
}

function encoded<H extends { ETag: string }>(headers: H, encoding: Encoding): H {
  return { ...headers, ETag: etagOfEncoding(headers.ETag, encoding), 'Content-Encoding': encoding };
}
