import { promisify } from 'node:util';
import { brotliCompress, gzip, type ZlibOptions } from 'node:zlib';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { type Reply, reply } from '../../http/message/reply.ts';
import { type Encoding, etagOfEncoding, etagOfMatch, matches } from '../response/etag.ts';
import { acceptsBrotli, acceptsGzip, PLAIN_BYTES_MAX } from '../response/gzip.ts';

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

/** Brotli takes two seconds per megabyte. */
const BROTLI_BYTES_MAX = 400_000;

/** Both run in a thread. */
const COMPRESSIONS: Readonly<Record<Encoding, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  br: promisify<Uint8Array, Buffer>(brotliCompress),
  gzip: (bytes) => promisify<Uint8Array, ZlibOptions, Buffer>(gzip)(bytes, { level: 9 }),
};

/** A static file. It is compressed on the first request for it. */
export class SiteFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The tag of `bytes`. */
  readonly etag: string;
  readonly #isCompressible: boolean;
  readonly #compressed = new Map<Encoding, Promise<Uint8Array>>();

  /** The extension determines the type. */
  constructor(content: string | Uint8Array<ArrayBuffer>, extension: string) {
    this.type = TYPES[extension] ?? 'application/octet-stream';
    this.bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    this.etag = `"${(Bun.hash(this.bytes) as bigint).toString(36)}"`;
    this.#isCompressible = this.bytes.length > COMPRESS_FILES_FROM_BYTES && extension !== 'png';
  }

  /** The shortest encoding that a client accepts; undefined for the bytes as they are. */
  encodingFor(accepted: string | null): Encoding | undefined {
    if (!this.#isCompressible) return undefined;
    if (this.bytes.length <= BROTLI_BYTES_MAX && acceptsBrotli(accepted)) return 'br'; // a seventh shorter than gzip
    return acceptsGzip(accepted) ? 'gzip' : undefined;
  }

  in(encoding: Encoding): Promise<Uint8Array> {
    return this.#compressed.getOrInsertComputed(encoding, () => COMPRESSIONS[encoding](this.bytes));
  }
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
export async function sendFile(
  file: SiteFile,
  request: IncomingRequest,
  headers: Readonly<Record<string, string>>,
  immutable: boolean,
): Promise<Reply> {
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
  const encoding = file.encodingFor(request.headers.get('accept-encoding'));
  if (!encoding) return reply(file.bytes, all);
  const encoded = { ...all, ETag: etagOfEncoding(file.etag, encoding), 'Content-Encoding': encoding };
  return reply(await file.in(encoding), encoded);
}
