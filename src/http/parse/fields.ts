import { type Fault, fault } from '../message/fault.ts';

/** How the body's end is found. */
export type Framing = { readonly kind: 'length'; readonly bytes: number } | { readonly kind: 'chunked' };

const FIELDS_MAX = 100;

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HOST = /^[A-Za-z0-9\-._~!$&'()*+,;=:[\]%]*$/;

/** What may stand once only: two of them are two ways to read a request. */
const SINGLE = new Set(['host', 'content-length', 'transfer-encoding', 'content-type', 'authorization']);

const CREDENTIALS = ['authorization', 'proxy-authorization', 'cookie'];

/** The header fields of a request, and what they say of its transport. They never change: the same lines are the same fields. */
export class Fields {
  readonly #values: ReadonlyMap<string, string>;
  /** Undefined when there is no body. */
  readonly framing: Framing | undefined;
  readonly asksToClose: boolean;
  readonly asksToKeep: boolean;
  /** Whether they hold secrets of others, which are not kept in memory. An API key is: its owner has been admitted with it. */
  readonly holdsCredentials: boolean;
  /** The text to cache them under, unless they are cached or may not be. */
  cacheKey: string | undefined;

  constructor(values: ReadonlyMap<string, string>, framing: Framing | undefined) {
    this.#values = values;
    this.framing = framing;
    const wishes = (values.get('connection') ?? '').toLowerCase().split(/[\s,]+/);
    this.asksToClose = wishes.includes('close');
    this.asksToKeep = wishes.includes('keep-alive');
    this.cacheKey = undefined;
    this.holdsCredentials = CREDENTIALS.some((name) => values.has(name));
  }

  get size(): number {
    return this.#values.size;
  }

  /** The value of a header, by its name in lower case; several are joined by commas. */
  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }
}

/** Reads the lines of a head after its first, without the empty one. */
export function readFields(text: string): Fields | Fault {
  const values = readValues(text);
  if ('why' in values) return values;
  const host = values.get('host');
  if (host !== undefined && !HOST.test(host)) return fault(400, 'there must be one header "Host"');
  const framing = readFraming(values);
  if (framing && 'why' in framing) return framing;
  const expect = values.get('expect');
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return fault(417, 'the only expectation that is met is "100-continue"');
  return new Fields(values, framing);
}

function readValues(text: string): Map<string, string> | Fault {
  const values = new Map<string, string>();
  if (text === '') return values;
  const lines = text.split('\r\n');
  if (lines.length > FIELDS_MAX) return fault(431, `there are more than ${FIELDS_MAX} headers`);
  for (const line of lines) {
    const colon = line.indexOf(':');
    // A line that begins with a space would be the rest of the last one to some.
    const name = line.slice(0, Math.max(0, colon));
    if (!NAME.test(name)) return fault(400, 'a header is not "Name: value" on one line');
    const value = line.slice(colon + 1);
    if (holdsControl(value)) return fault(400, `the header "${name}" holds a control character`);
    const key = name.toLowerCase();
    const before = values.get(key);
    if (before !== undefined && SINGLE.has(key))
      return fault(400, `the header "${name}" came more than once`);
    const own = withoutBlanks(value);
    values.set(key, before === undefined ? own : `${before}, ${own}`);
  }
  return values;
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
export function holdsControl(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\x00-\x08\x0a-\x1f\x7f]/.test(text);
}

function readFraming(values: ReadonlyMap<string, string>): Framing | undefined | Fault {
  const length = values.get('content-length');
  const coding = values.get('transfer-encoding');
  if (coding !== undefined) {
    if (length !== undefined)
      return fault(400, 'the body is framed twice, by "Content-Length" and "Transfer-Encoding"');
    if (coding.toLowerCase() !== 'chunked')
      return fault(501, 'the only "Transfer-Encoding" that is understood is "chunked"');
    return { kind: 'chunked' };
  }
  if (length === undefined) return undefined;
  if (!/^\d{1,15}$/.test(length)) return fault(400, 'the header "Content-Length" is not a number');
  return Number(length) === 0 ? undefined : { kind: 'length', bytes: Number(length) };
}
