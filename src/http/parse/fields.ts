import { type Fault, fault } from '../message/fault.ts';

/** How the end of a body is found. */
export type Framing = { readonly kind: 'length'; readonly bytes: number } | { readonly kind: 'chunked' };

export const FIELDS_MAX = 100;

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HOST = /^[A-Za-z0-9\-._~!$&'()*+,;=:[\]%]*$/;

/** Headers that must not be repeated: two parsers could choose different ones. */
const SINGLE = new Set(['host', 'content-length', 'transfer-encoding', 'content-type', 'authorization']);

/** Headers that are never cached. */
const CREDENTIALS = ['authorization', 'proxy-authorization', 'cookie'];

/** The header fields of a request. Immutable, except for `cacheKey`, because requests with the same header lines share them. */
export class Fields {
  readonly #values: ReadonlyMap<string, string>;
  /** Undefined when there is no body. */
  readonly framing: Framing | undefined;
  /** How many header lines they were parsed from. Repeated headers are one field. */
  readonly lineCount: number;
  readonly wantsClose: boolean;
  readonly wantsKeepAlive: boolean;
  /** Whether they contain credentials, which are not cached. */
  readonly hasCredentials: boolean;
  /** The text to cache them under. Undefined if they are cached already, or must not be. */
  cacheKey: string | undefined;

  constructor(values: ReadonlyMap<string, string>, framing: Framing | undefined, lineCount: number) {
    this.#values = values;
    this.framing = framing;
    this.lineCount = lineCount;
    const options = (values.get('connection') ?? '').toLowerCase().split(/[\s,]+/);
    this.wantsClose = options.includes('close');
    this.wantsKeepAlive = options.includes('keep-alive');
    this.cacheKey = undefined;
    this.hasCredentials = CREDENTIALS.some((name) => values.has(name));
  }

  get size(): number {
    return this.#values.size;
  }

  /** The value of a header by its lower-case name. Several values are joined by commas. */
  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }
}

/** Header fields that several clients share, and the API key of one of them. */
export class FieldsWithKey {
  readonly #fields: Fields;
  readonly #name: string;
  readonly key: string;

  constructor(fields: Fields, name: string, key: string) {
    this.#fields = fields;
    this.#name = name;
    this.key = key;
  }

  get(name: string): string | null {
    return name === this.#name ? this.key : this.#fields.get(name);
  }

  has(name: string): boolean {
    return name === this.#name || this.#fields.has(name);
  }

  /** The same header fields with the API key of another client. */
  withKey(key: string): FieldsWithKey {
    return new FieldsWithKey(this.#fields, this.#name, key);
  }
}

/** Whether a `Host` header is a host. A slash or a space in it could change the path of an absolute URL. */
export function isHost(text: string): boolean {
  return HOST.test(text);
}

/** Parses the header lines of a head, without the empty line at its end. */
export function parseFields(text: string): Fields | Fault {
  const lines = text === '' ? [] : text.split('\r\n');
  if (lines.length > FIELDS_MAX) return fault(431, `there are more than ${FIELDS_MAX} headers`);
  const values = parseValues(lines);
  if ('reason' in values) return values;
  const host = values.get('host');
  if (host !== undefined && !isHost(host)) return fault(400, 'there must be exactly one header "Host"');
  const framing = parseFraming(values);
  if (framing && 'reason' in framing) return framing;
  const expect = values.get('expect');
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return fault(417, 'the only supported expectation is "100-continue"');
  return new Fields(values, framing, lines.length);
}

function parseValues(lines: readonly string[]): Map<string, string> | Fault {
  const values = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    // A line that begins with a space is refused: some parsers append it to the line before.
    const name = line.slice(0, Math.max(0, colon));
    if (!NAME.test(name)) return fault(400, 'a header is not "Name: value" on one line');
    const value = line.slice(colon + 1);
    if (hasControl(value)) return fault(400, `the header "${name}" contains a control character`);
    const key = name.toLowerCase();
    const before = values.get(key);
    if (before !== undefined && SINGLE.has(key)) return fault(400, `the header "${name}" is repeated`);
    const trimmed = trimBlanks(value);
    values.set(key, before === undefined ? trimmed : `${before}, ${trimmed}`);
  }
  return values;
}

/** Removes spaces and tabs only. `trim` also removes 0xA0, and parsers would disagree about `\xA0chunked`. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** Parsers differ about line ends and zero bytes. Tabs are allowed. */
export function hasControl(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this function searches for them
  return /[\x00-\x08\x0a-\x1f\x7f]/.test(text);
}

function parseFraming(values: ReadonlyMap<string, string>): Framing | undefined | Fault {
  const length = values.get('content-length');
  const coding = values.get('transfer-encoding');
  if (coding !== undefined) {
    if (length !== undefined)
      return fault(400, 'the body is framed twice, by "Content-Length" and "Transfer-Encoding"');
    if (coding.toLowerCase() !== 'chunked')
      return fault(501, 'the only supported "Transfer-Encoding" is "chunked"');
    return { kind: 'chunked' };
  }
  if (length === undefined) return undefined;
  if (!/^\d{1,15}$/.test(length)) return fault(400, 'the header "Content-Length" is not a number');
  return Number(length) === 0 ? undefined : { kind: 'length', bytes: Number(length) };
}
