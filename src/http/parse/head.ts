import { type Fault, fault } from '../message/fault.ts';
import type { IncomingRequest } from '../message/incoming-request.ts';
import { type Fields, type Framing, holdsControl, readFields } from './fields.ts';

/** What nearly all requests are: a target that needs no second look. */
const PLAIN_LINE = /^GET (\/[!-"$-~]*) HTTP\/1\.1$/;
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([^ \t]+) HTTP\/(\d)\.(\d)$/;
const ABSOLUTE = /^https?:\/\/[^/?#]+/i;

/**
 * The head of a request, read strictly: what two programs could read in two ways is refused, so that nothing can be
 * smuggled past a proxy. It never changes, so one that comes again, byte for byte, need not be read again.
 */
export class Head implements IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Fields;
  /** HTTP/1.0 knows no chunks, and must be told when a connection is kept. */
  readonly isHttp10: boolean;
  /** The text to cache it under, unless it is cached or may not be. */
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

  /** Whether the client wants the connection kept. */
  get persists(): boolean {
    return !this.headers.asksToClose && (!this.isHttp10 || this.headers.asksToKeep);
  }

  get expectsContinue(): boolean {
    return !this.isHttp10 && this.headers.has('expect');
  }

  /** A head by itself has no body. */
  async text(): Promise<string> {
    return '';
  }
}

/** Reads a head. `text` holds one character for each byte, and ends before the empty line. */
export function readHead(
  text: string,
  fieldsOf: (text: string) => Fields | Fault = readFields,
): Head | Fault {
  const end = text.indexOf('\r\n');
  const line = end < 0 ? text : text.slice(0, end);
  const rest = end < 0 ? '' : text.slice(end + 2);
  const plain = PLAIN_LINE.exec(line);
  const first = plain ? { method: 'GET', url: plain[1]!, isHttp10: false } : readLine(line);
  if ('why' in first) return first;
  const fields = fieldsOf(rest);
  if ('why' in fields) return fields;
  const { method, url, isHttp10 } = first;
  if (!isHttp10 && !fields.has('host')) return fault(400, 'there must be one header "Host"');
  if (isHttp10 && fields.framing?.kind === 'chunked')
    return fault(400, 'HTTP/1.0 has no "Transfer-Encoding"');
  return new Head(method, url, fields, isHttp10);
}

function readLine(line: string): { method: string; url: string; isHttp10: boolean } | Fault {
  const request = REQUEST_LINE.exec(line);
  if (!request) return fault(400, 'the first line is not "METHOD path HTTP/1.1"');
  const [, method = '', target = '', major, minor] = request;
  if (major !== '1') return fault(505, `HTTP/${major}.${minor} is not spoken here, only HTTP/1.1`);
  const url = readTarget(target, method);
  if (url === undefined) return fault(400, 'the path must begin with "/" and hold no control character');
  return { method, url, isHttp10: minor === '0' };
}

/** Path and query. A proxy's form, with scheme and host before it, is taken too. */
function readTarget(target: string, method: string): string | undefined {
  if (target === '*' && method === 'OPTIONS') return '*';
  const host = ABSOLUTE.exec(target)?.[0];
  const own = host === undefined ? target : target.slice(host.length);
  const path = host !== undefined && !own.startsWith('/') ? `/${own}` : own;
  if (!path.startsWith('/') || target.includes('#') || holdsControl(target)) return undefined;
  // Some clients send other letters as they are; escaped, they can be decoded like the rest.
  return path.replace(/[\x80-\xff]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
}
