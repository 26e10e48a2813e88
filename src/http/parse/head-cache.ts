import { BoundedCache } from '../../runtime/bounded-cache.ts';
import type { Fault } from '../message/fault.ts';
import { type Fields, parseFields } from './fields.ts';
import { type Head, parseHead } from './head.ts';

/** A longer head is not cached. */
const LENGTH_MAX = 2_048;
const HEAD_END = '\r\n\r\n';

/** Memory of a parsed head in addition to its text, of its fields, and of each field; measured. */
const HEAD_BYTES = 256;
const FIELDS_BYTES = 256;
const FIELD_BYTES = 96;

const BYTES_MAX_DEFAULT = 4 * 1024 * 1024;

export type CachedHeads = BoundedCache<string, Head>;
export type CachedFields = BoundedCache<string, Fields>;

/**
 * Clients repeat the same head byte for byte, or at least the same header lines after another request line. A head is
 * cached on its second use, and only after the handler has authenticated its client (`keep`): others can neither evict a
 * customer's head nor leave secrets in memory.
 */
export class HeadCache {
  readonly #heads: CachedHeads;
  readonly #fields: CachedFields;

  constructor(
    heads: CachedHeads = new BoundedCache({ bytesMax: BYTES_MAX_DEFAULT, admitsOnSecondUse: true }),
    fields: CachedFields = new BoundedCache({ bytesMax: BYTES_MAX_DEFAULT, admitsOnSecondUse: true }),
  ) {
    this.#heads = heads;
    this.#fields = fields;
  }

  /** Returns the head if the bytes are exactly one head. */
  find(bytes: Buffer): Head | Fault | undefined {
    if (bytes.length > LENGTH_MAX) return undefined;
    const text = bytes.toString('latin1');
    const known = this.#heads.get(text);
    if (known) return known;
    const end = text.indexOf(HEAD_END);
    const isWhole = end > 0 && end === text.length - HEAD_END.length && !text.startsWith('\r\n');
    return isWhole ? this.#parseNew(text) : undefined;
  }

  /** Parses a head, or finds it in the cache. `text` ends with the empty line. */
  parse(text: string): Head | Fault {
    return this.#heads.get(text) ?? this.#parseNew(text);
  }

  /** Caches a head on its second use. Its client must be authenticated. */
  keep(head: Head): void {
    const { cacheKey, headers } = head;
    head.cacheKey = undefined;
    if (cacheKey === undefined || headers.hasCredentials) return;
    if (headers.cacheKey !== undefined) this.#cacheFields(headers);
    if (!this.#heads.admits(cacheKey)) return;
    const known = this.parse(cacheKey); // shares the fields that are cached by now
    if ('reason' in known) return;
    known.cacheKey = undefined;
    this.#heads.set(cacheKey, known, HEAD_BYTES);
  }

  #cacheFields(fields: Fields): void {
    const text = fields.cacheKey!;
    fields.cacheKey = undefined;
    if (!this.#fields.admits(text)) return;
    const own = Buffer.from(text, 'latin1').toString('latin1'); // a substring would keep its whole head in memory
    const parsed = parseFields(own);
    if ('reason' in parsed) return;
    parsed.cacheKey = undefined;
    this.#fields.set(own, parsed, FIELDS_BYTES + FIELD_BYTES * parsed.size);
  }

  #parseNew(text: string): Head | Fault {
    const lines = text.slice(0, -HEAD_END.length);
    if (text.length > LENGTH_MAX) return parseHead(lines);
    const head = parseHead(lines, this.#fieldsOf);
    if (!('reason' in head) && !head.framing) head.cacheKey = text;
    return head;
  }

  readonly #fieldsOf = (text: string): Fields | Fault => {
    const known = this.#fields.get(text);
    if (known) return known;
    const fields = parseFields(text);
    if (!('reason' in fields)) fields.cacheKey = text;
    return fields;
  };
}
