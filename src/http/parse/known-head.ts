import type { Bytes } from '../message/buffer-pool.ts';
import { FieldsWithKey } from './fields.ts';
import { Head, NO_KEY } from './head.ts';

const GET = Buffer.from('GET /');
const URL_AT = GET.length - 1;
const SPACE = 0x20;
const DELETE = 0x7f;

/**
 * A head that a connection has received, including the empty line at its end. Clients repeat their requests byte for byte.
 * Behind a proxy, the requests of customers who run the same program differ only in their URL and their API key:
 *
 *     GET /rates/latest?symbols=XAU HTTP/1.1 ⏎ Host: rates.example.org ⏎ X-Api-Key: pit_live_… ⏎ Accept: application/json ⏎⏎
 *         └─ any ─────────────────┘                                                 └─ any of ┘
 *                                                                                    this length
 */
export class KnownHead {
  #bytes: Bytes;
  #head: Head;
  /** Whether the URL stands in the bytes as it does in the head, in a line `GET … HTTP/1.1`. */
  readonly #isPlain: boolean;
  readonly #keyLength: number;

  constructor(bytes: Buffer, head: Head) {
    const { method, url, isHttp10, headers } = head;
    this.#bytes = bytes as Bytes;
    this.#head = head;
    this.#isPlain =
      method === 'GET' && !isHttp10 && bytes.indexOf(`GET ${url} HTTP/1.1\r\n`, 0, 'latin1') === 0;
    this.#keyLength = headers instanceof FieldsWithKey ? headers.key.length : 0;
  }

  /** The head of a request that is equal, or differs only in its URL and API key; it replaces this one. Undefined if the request must be parsed. */
  match(bytes: Buffer): Head | undefined {
    if (bytes.equals(this.#bytes)) return this.#head;
    const head = this.#isPlain ? this.#parse(bytes as Bytes) : undefined;
    if (!head) return undefined;
    this.#bytes = bytes as Bytes;
    this.#head = head;
    return head;
  }

  /** Visible characters cannot begin or end a line, so everything else stays as it was parsed. */
  #parse(bytes: Bytes): Head | undefined {
    const known = this.#bytes;
    const { url, fields, headers, keyAt } = this.#head;
    const shift = bytes.length - known.length;
    const urlEnd = URL_AT + url.length;
    const keyStart = keyAt === NO_KEY ? known.length : keyAt;
    const keyEnd = keyStart + this.#keyLength;
    if (urlEnd + shift <= URL_AT || !isSame(known, bytes, urlEnd, keyStart, shift)) return undefined;
    if (!isSame(known, bytes, keyEnd, known.length, shift)) return undefined;
    if (!isVisible(bytes, keyStart + shift, keyEnd + shift)) return undefined;
    const newUrl = shift === 0 && isSame(known, bytes, 0, urlEnd, 0) ? url : urlIn(bytes, urlEnd + shift);
    if (newUrl === undefined) return undefined;
    const line = { method: 'GET', url: newUrl, isHttp10: false };
    if (!(headers instanceof FieldsWithKey)) return new Head(line, fields, headers, NO_KEY);
    const key = bytes.latin1Slice(keyStart + shift, keyEnd + shift);
    return new Head(line, fields, headers.withKey(key), keyAt + shift);
  }
}

/** Whether the bytes from `start` to `end` of one head stand `shift` bytes further in another. */
function isSame(known: Uint8Array, other: Uint8Array, start: number, end: number, shift: number): boolean {
  for (let i = start; i < end; i++) if (known[i] !== other[i + shift]) return false;
  return true;
}

function isVisible(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i]! <= SPACE || bytes[i]! >= DELETE) return false;
  return true;
}

/** The URL of `GET …` up to `end`, if it is one that needs no further checks. */
function urlIn(bytes: Bytes, end: number): string | undefined {
  for (let i = 0; i < GET.length; i++) if (bytes[i] !== GET[i]) return undefined;
  if (!isVisible(bytes, URL_AT, end)) return undefined;
  const url = bytes.latin1Slice(URL_AT, end);
  return url.includes('#') ? undefined : url;
}
