import { type Fault, fault } from '../message/fault.ts';
import type { IncomingRequest } from '../message/incoming-request.ts';
import { type Fields, type Framing, hasControl, parseFields } from './fields.ts';

/** Matches nearly all requests. Such a target needs no further checks. */
const PLAIN_LINE = /^GET (\/[!-"$-~]*) HTTP\/1\.1$/;
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([^ \t]+) HTTP\/(\d)\.(\d)$/;
const ABSOLUTE = /^https?:\/\/[^/?#]+/i;

/**
 * The head of a request, parsed strictly: whatever two parsers could understand differently is refused, so that no
 * request can be smuggled past a proxy. Immutable but for `cacheKey`, because requests with the same bytes share it.
 */
export class Head implements IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Fields;
  /** HTTP/1.0 has no chunks, and closes connections by default. */
  readonly isHttp10: boolean;
  /** The text to cache it under. Undefined if it is cached already, or must not be. */
  cacheKey: string | undefined;

  constructor(method: string, url: string, headers: Fields, isHttp10: boolean) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.isHttp10 = isHttp10;
    this.cacheKey = undefined;
  }

  /** Undefined when there is no body. */
  get framing(): Framing | undefined {
    return this.headers.framing;
  }

  /** Whether the client wants to keep the connection open. */
  get persists(): boolean {
    return !this.headers.wantsClose && (!this.isHttp10 || this.headers.wantsKeepAlive);
  }

  get expectsContinue(): boolean {
    return !this.isHttp10 && this.headers.has('expect');
  }

  /** The body of a request that has none. */
  async text(): Promise<string> {
    return '';
  }
}

/** Parses a head. `text` has one character per byte, without the empty line at its end. */
export function parseHead(
  text: string,
  fieldsOf: (text: string) => Fields | Fault = parseFields,
): Head | Fault {
  const end = text.indexOf('\r\n');
  const line = end < 0 ? text : text.slice(0, end);
  const rest = end < 0 ? '' : text.slice(end + 2);
  const plain = PLAIN_LINE.exec(line);
  const first = plain ? { method: 'GET', url: plain[1]!, isHttp10: false } : parseLine(line);
  if ('reason' in first) return first;
  const fields = fieldsOf(rest);
  if ('reason' in fields) return fields;
  const { method, url, isHttp10 } = first;
  if (!isHttp10 && !fields.has('host')) return fault(400, 'there must be exactly one header "Host"');
  if (isHttp10 && fields.framing?.kind === 'chunked')
    return fault(400, 'HTTP/1.0 has no "Transfer-Encoding"');
  return new Head(method, url, fields, isHttp10);
}

function parseLine(line: string): { method: string; url: string; isHttp10: boolean } | Fault {
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
