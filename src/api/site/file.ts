import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { type Reply, reply } from '../../http/message/reply.ts';
import { matches } from '../response/etag.ts';
import { acceptsGzip, COMPRESS_FROM_BYTES } from '../response/gzip.ts';

/** A static file, compressed in advance. */
export interface SiteFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer> | undefined;
  readonly etag: string;
}

export const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
};

export function siteFile(content: string | Uint8Array<ArrayBuffer>, extension: string): SiteFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const isCompressible = bytes.length > COMPRESS_FROM_BYTES && extension !== 'png';
  return {
    type: TYPES[extension] ?? 'application/octet-stream',
    bytes,
    gzipped: isCompressible ? Bun.gzipSync(bytes, { level: 9 }) : undefined,
    etag: `"${(Bun.hash(bytes) as bigint).toString(36)}"`,
  };
}

/** Sends a file. `immutable` is for files whose name contains their hash; clients revalidate all others. */
export function sendFile(
  file: SiteFile,
  request: IncomingRequest,
  headers: Readonly<Record<string, string>>,
  immutable: boolean,
): Reply {
  const all: Record<string, string> = {
    ...headers,
    'Content-Type': file.type,
    'Cache-Control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: file.etag,
    Vary: 'Accept-Encoding',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };
  const ifNoneMatch = request.headers.get('if-none-match');
  if (ifNoneMatch !== null && matches(ifNoneMatch, file.etag)) return reply(null, all, 304);
  if (!file.gzipped || !acceptsGzip(request.headers.get('accept-encoding'))) return reply(file.bytes, all);
  return reply(file.gzipped, { ...all, 'Content-Encoding': 'gzip' });
}
