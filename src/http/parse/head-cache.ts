import { BoundedCache } from '../../runtime/bounded-cache.ts';
import type { Fault } from '../message/fault.ts';
import { type Fields, readFields } from './fields.ts';
import { type Head, readHead } from './head.ts';

/** A longer head is read each time. */
const LENGTH_MAX = 2_048;
const HEAD_END = '\r\n\r\n';

/** What a parsed head takes beside its text, and its fields, for each of them; measured. */
const HEAD_BYTES = 256;
const FIELDS_BYTES = 256;
const FIELD_BYTES = 96;

/** Used where nothing else is said. */
const BYTES_MAX_DEFAULT = 4 * 1024 * 1024;

export type CachedHeads = BoundedCache<string, Head>;
export type CachedFields = BoundedCache<string, Fields>;

/**
 * Clients send the same head again and again, byte for byte, or at least the same header lines under another first line. Heads that
 * came twice are cached, but only those of clients that the handler knows (`keep`): strangers can neither evict a customer's head nor
 * leave their secrets in memory.
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

  /** The head that these bytes are, no less and no more. */
  find(bytes: Buffer): Head | Fault | undefined {
    if (bytes.length > LENGTH_MAX) return undefined;
    const text = bytes.toString('latin1');
    const known = this.#heads.get(text);
    if (known) return known;
    const end = text.indexOf(HEAD_END);
    const isWhole = end > 0 && end === text.length - HEAD_END.length && !text.startsWith('\r\n');
    return isWhole ? this.#readNew(text) : undefined;
  }

  /** Reads a head. `text` ends with the empty line. */
  read(text: string): Head | Fault {
    return this.#heads.get(text) ?? this.#readNew(text);
  }

  /** Caches a head, from its second time on. The client must be one that the handler knows. */
  keep(head: Head): void {
    const { cacheKey, headers } = head;
    head.cacheKey = undefined;
    if (cacheKey === undefined || headers.holdsCredentials) return;
    if (headers.cacheKey !== undefined) this.#keepFields(headers);
    if (!this.#heads.admits(cacheKey)) return;
    const known = this.read(cacheKey); // with the fields that are cached by now
    if ('why' in known) return;
    known.cacheKey = undefined;
    this.#heads.set(cacheKey, known, HEAD_BYTES);
  }

  #keepFields(fields: Fields): void {
    const text = fields.cacheKey!;
    fields.cacheKey = undefined;
    if (!this.#fields.admits(text)) return;
    const own = Buffer.from(text, 'latin1').toString('latin1'); // `text` is a part of its head, and would keep all of it
    const read = readFields(own);
    if ('why' in read) return;
    read.cacheKey = undefined;
    this.#fields.set(own, read, FIELDS_BYTES + FIELD_BYTES * read.size);
  }

  #readNew(text: string): Head | Fault {
    const lines = text.slice(0, -HEAD_END.length);
    if (text.length > LENGTH_MAX) return readHead(lines);
    const head = readHead(lines, this.#fieldsOf);
    if (!('why' in head) && !head.framing) head.cacheKey = text;
    return head;
  }

  readonly #fieldsOf = (text: string): Fields | Fault => {
    const known = this.#fields.get(text);
    if (known) return known;
    const fields = readFields(text);
    if (!('why' in fields)) fields.cacheKey = text;
    return fields;
  };
}
