import { type Fault, fault } from '../message/fault.ts';
import type { IncomingRequest } from '../message/incoming-request.ts';
import { type Fields, type Framing, hasControl, parseFields } from './fields.ts';

/** Matches nearly all requests. Such a target needs no further checks. */
const PLAIN_LINE = /^GET \/[!-"$-~]* HTTP\/1\.1$/;
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([^ \t]+) HTTP\/(\d)\.(\d)$/;
const ABSOLUTE = /^https?:\/\/[^/?#]+/i;

export const NO_KEY = -1;

/** The first line of a request. */
export interface RequestLine {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** HTTP/1.0 has no chunks, and closes connections by default. */
  readonly isHttp10: boolean;
}

/**
 * The head of a request, parsed strictly: whatever two parsers could understand differently is refused, so that no
 * request can be smuggled past a proxy. Immutable, because repeated requests of a connection share it.
 */
export class Head implements IncomingRequest, RequestLine {
  readonly method: string;
  readonly url: string;
  readonly isHttp10: boolean;
  /** The parsed header lines, without an API key that is kept apart. */
  readonly fields: Fields;
  readonly headers: IncomingRequest['headers'];
  /** Where the API key begins in the head, if it was cut out of the fields; otherwise `NO_KEY`. */
  readonly keyAt: number;

  constructor(
    { method, url, isHttp10 }: RequestLine,
    fields: Fields,
    headers: IncomingRequest['headers'],
    keyAt: number,
  ) {
    this.method = method;
    this.url = url;
    this.isHttp10 = isHttp10;
    this.fields = fields;
    this.headers = headers;
    this.keyAt = keyAt;
  }

  /** Undefined when there is no body. */
  get framing(): Framing | undefined {
    return this.fields.framing;
  }

  /** Whether the client wants to keep the connection open. */
  get persists(): boolean {
    return !this.fields.wantsClose && (!this.isHttp10 || this.fields.wantsKeepAlive);
  }

  get expectsContinue(): boolean {
    return !this.isHttp10 && this.fields.has('expect');
  }

  /** The body of a request that has none. */
  async bytes(): Promise<Uint8Array> {
    return new Uint8Array();
  }
}

/** Parses a head. `text` has one character per byte, without the empty line at its end. */
export function parseHead(text: string): Head | Fault {
  const end = text.indexOf('\r\n');
  if (end < 0) return headOf(parseLine(text), parseFields(''));
  return headOf(parseLine(text.slice(0, end)), parseFields(text.slice(end + '\r\n'.length)));
}

/** The head with a first line and header lines. `headers` are the fields, with an API key that was cut out of them. */
export function headOf(
  line: RequestLine | Fault,
  fields: Fields | Fault,
  headers?: IncomingRequest['headers'],
  keyAt = NO_KEY,
): Head | Fault {
  if ('reason' in line) return line;
  if ('reason' in fields) return fields;
  const { isHttp10 } = line;
  if (!isHttp10 && !fields.has('host')) return fault(400, 'there must be exactly one header "Host"');
  if (isHttp10 && fields.framing?.kind === 'chunked')
    return fault(400, 'HTTP/1.0 has no "Transfer-Encoding"');
  return new Head(line, fields, headers ?? fields, keyAt);
}

export function parseLine(line: string): RequestLine | Fault {
  if (PLAIN_LINE.test(line))
    return { method: 'GET', url: line.slice('GET '.length, -' HTTP/1.1'.length), isHttp10: false };
  const request = REQUEST_LINE.exec(line);
  if (!request) return fault(400, 'the first line is not "METHOD path HTTP/1.1"');
  const [, method = '', target = '', major, minor] = request;
  if (major !== '1') return fault(505, `HTTP/${major}.${minor} is not supported, only HTTP/1.1`);
  const url = parseTarget(target, method);
  if (url === undefined) return fault(400, 'the path must begin with "/" and contain no control character');
  return { method, url, isHttp10: minor === '0' };
}

/** Returns path and query, also of the absolute form that clients send to proxies. */
function parseTarget(target: string, method: string): string | undefined {
  if (target === '*' && method === 'OPTIONS') return '*';
  const host = ABSOLUTE.exec(target)?.[0];
  const rest = host === undefined ? target : target.slice(host.length);
  const path = host !== undefined && !rest.startsWith('/') ? `/${rest}` : rest;
  if (!path.startsWith('/') || target.includes('#') || hasControl(target)) return undefined;
  // Some clients send raw non-ASCII bytes: percent-encode them, so that they are decoded like the rest.
  return path.replace(/[\x80-\xff]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
}
