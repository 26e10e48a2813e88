import type { Incoming } from './incoming.ts';

/** Why a request cannot be read, or not answered. The connection is closed after it is told: where the next one begins is not known. */
export interface Fault {
  readonly status: 400 | 408 | 413 | 417 | 431 | 500 | 501 | 505;
  /** What was wrong, as a sentence without its end. */
  readonly why: string;
}

/** How the body's end is found. */
export type Framing = { readonly kind: 'length'; readonly bytes: number } | { readonly kind: 'chunked' };

const FIELDS_MAX = 100;

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([^ \t]+) HTTP\/(\d)\.(\d)$/;
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HOST = /^[A-Za-z0-9\-._~!$&'()*+,;=:[\]%]*$/;
const ABSOLUTE = /^https?:\/\/[^/?#]+/i;

/**
 * The head of a request, read strictly: what two programs could read in two ways is refused, so that nothing can be
 * smuggled past a proxy. It never changes, so one that comes again, byte for byte, need not be read again.
 */
export class Head implements Incoming {
  readonly method: string;
  readonly url: string;
  readonly headers: ReadonlyHeaders;
  /** Undefined when there is no body. */
  readonly framing: Framing | undefined;
  /** Whether the client wants the connection kept. */
  readonly persists: boolean;
  /** HTTP/1.0 knows no chunks, and must be told when a connection is kept. */
  readonly isOld: boolean;
  readonly expectsContinue: boolean;

  constructor(parts: {
    method: string;
    url: string;
    headers: ReadonlyHeaders;
    framing: Framing | undefined;
    isOld: boolean;
  }) {
    this.method = parts.method;
    this.url = parts.url;
    this.headers = parts.headers;
    this.framing = parts.framing;
    this.isOld = parts.isOld;
    const wishes = (parts.headers.get('connection') ?? '').toLowerCase().split(/[\s,]+/);
    this.persists = !wishes.includes('close') && (!parts.isOld || wishes.includes('keep-alive'));
    this.expectsContinue = !parts.isOld && parts.headers.has('expect');
  }

  /** A head by itself has no body. */
  async text(): Promise<string> {
    return '';
  }
}

/** The headers of a request, by name in lower case. */
export class ReadonlyHeaders {
  readonly #values = new Map<string, string>();

  add(name: string, value: string): void {
    const before = this.#values.get(name);
    this.#values.set(name, before === undefined ? value : `${before}, ${value}`);
  }

  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }
}

/** Reads a head. `text` holds one character for each byte, and ends before the empty line. */
export function readHead(text: string): Head | Fault {
  const lines = text.split('\r\n');
  const request = REQUEST_LINE.exec(lines[0]!);
  if (!request) return fault(400, 'the first line is not "METHOD path HTTP/1.1"');
  const [, method = '', target = '', major, minor] = request;
  if (major !== '1') return fault(505, `HTTP/${major}.${minor} is not spoken here, only HTTP/1.1`);
  if (lines.length - 1 > FIELDS_MAX) return fault(431, `there are more than ${FIELDS_MAX} headers`);
  const headers = readFields(lines);
  if ('why' in headers) return headers;
  const isOld = minor === '0';
  const host = headers.get('host');
  if (host === null ? !isOld : !HOST.test(host)) return fault(400, 'there must be one header "Host"');
  const url = readTarget(target, method);
  if (url === undefined) return fault(400, 'the path must begin with "/" and hold no control character');
  const framing = readFraming(headers, isOld);
  if (framing && 'why' in framing) return framing;
  const expect = headers.get('expect');
  if (expect !== null && expect.toLowerCase() !== '100-continue')
    return fault(417, 'the only expectation that is met is "100-continue"');
  return new Head({ method, url, headers, framing, isOld });
}

export function fault(status: Fault['status'], why: string): Fault {
  return { status, why };
}

/** What it means that the handler threw. */
export function failure(error: unknown): Fault {
  return fault(500, error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/** What may stand once only: two of them are two ways to read a request. */
const SINGLE = new Set(['host', 'content-length', 'transfer-encoding', 'content-type', 'authorization']);

function readFields(lines: readonly string[]): ReadonlyHeaders | Fault {
  const headers = new ReadonlyHeaders();
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]!;
    const colon = line.indexOf(':');
    // A line that begins with a space would be the rest of the last one to some.
    const name = line.slice(0, Math.max(0, colon));
    if (!FIELD_NAME.test(name)) return fault(400, 'a header is not "Name: value" on one line');
    const value = line.slice(colon + 1);
    if (holdsControl(value)) return fault(400, `the header "${name}" holds a control character`);
    const key = name.toLowerCase();
    if (SINGLE.has(key) && headers.has(key)) return fault(400, `the header "${name}" came more than once`);
    headers.add(key, withoutBlanks(value));
  }
  return headers;
}

/** Blanks and tabs, and no others: `trim` takes a byte 0xA0 for a blank too, and then ` chunked` behind one is read in two ways. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** Tabs are allowed; a line end or a zero byte is where parsers differ. */
function holdsControl(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\x00-\x08\x0a-\x1f\x7f]/.test(text);
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

function readFraming(headers: ReadonlyHeaders, isOld: boolean): Framing | undefined | Fault {
  const length = headers.get('content-length');
  const coding = headers.get('transfer-encoding');
  if (coding !== null) {
    if (length !== null)
      return fault(400, 'the body is framed twice, by "Content-Length" and "Transfer-Encoding"');
    if (isOld) return fault(400, 'HTTP/1.0 has no "Transfer-Encoding"');
    if (coding.toLowerCase() !== 'chunked')
      return fault(501, 'the only "Transfer-Encoding" that is understood is "chunked"');
    return { kind: 'chunked' };
  }
  if (length === null) return undefined;
  if (!/^\d{1,15}$/.test(length)) return fault(400, 'the header "Content-Length" is not a number');
  return Number(length) === 0 ? undefined : { kind: 'length', bytes: Number(length) };
}
