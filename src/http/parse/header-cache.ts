import { BoundedCache } from '../../runtime/bounded-cache.ts';
import type { Fault } from '../message/fault.ts';
import { FIELDS_MAX, type Fields, FieldsWithKey, hasControl, parseFields, trimBlanks } from './fields.ts';
import { type Head, headOf, parseHead, parseLine } from './head.ts';

/** Header lines of a longer head are not cached. */
const LENGTH_MAX = 2_048;

/** Memory of parsed fields in addition to their text, and of each field; measured. */
const FIELDS_BYTES = 256;
const FIELD_BYTES = 96;

const BYTES_MAX_DEFAULT = 4 * 1024 * 1024;

export type CachedFields = BoundedCache<string, Fields>;

/**
 * Parses heads. Clients that run the same program send the same header lines, but for their API key:
 *
 *     GET /rates/latest?symbols=XAU HTTP/1.1   ─► parsed
 *     Host: rates.example.org                  ┐
 *     X-Api-Key: pit_live_…                    │  ─► cut out
 *     Accept: application/json                 ┘  the rest is looked up
 *
 * Lines are cached on their second use, and only after the handler has authenticated the client (`keep`): others can neither
 * evict the lines of customers nor leave secrets in memory.
 */
export class HeaderCache {
  readonly #fields: CachedFields;
  readonly #keyLine: RegExp;
  readonly #keyName: string;
  readonly #keyNames: readonly string[];

  /** `keyName` is the header with the API key, in lower case, and `otherKeyNames` are those that may contain it instead. */
  constructor(
    keyName = 'x-api-key',
    fields: CachedFields = new BoundedCache({ bytesMax: BYTES_MAX_DEFAULT, admitsOnSecondUse: true }),
    otherKeyNames: readonly string[] = [],
  ) {
    this.#keyName = keyName;
    this.#keyNames = [keyName, ...otherKeyNames];
    this.#keyLine = new RegExp(`\r\n${keyName}:`, 'i');
    this.#fields = fields;
  }

  /** Parses a head. `text` has one character per byte, without the empty line at its end. */
  parse(text: string): Head | Fault {
    const lineEnd = text.indexOf('\r\n');
    if (lineEnd < 0 || text.length > LENGTH_MAX) return parseHead(text);
    const line = text.slice(0, lineEnd);
    const keyAt = text.search(this.#keyLine);
    const withKey = keyAt < 0 ? undefined : this.#parseAround(text, line, keyAt);
    if (withKey) return withKey;
    return headOf(parseLine(line), this.#fieldsOf(text.slice(lineEnd + '\r\n'.length)));
  }

  /** Caches the header lines of a head on their second use. Its client must be authenticated. */
  keep({ fields }: Head): void {
    const text = fields.cacheKey;
    if (text === undefined) return;
    fields.cacheKey = undefined;
    // A key that was not cut out, because it is repeated or in another header, would be an entry of one customer.
    const hasSecret = fields.hasCredentials || this.#keyNames.some((name) => fields.has(name));
    if (hasSecret || !this.#fields.admits(text)) return;
    const own = Buffer.from(text, 'latin1').toString('latin1'); // a substring would keep its whole head in memory
    const parsed = parseFields(own);
    if (!('reason' in parsed)) this.#fields.set(own, parsed, FIELDS_BYTES + FIELD_BYTES * parsed.size);
  }

  /** Parses the lines before and after the key. Undefined if any is invalid, the key is repeated, or it is one header too many. */
  #parseAround(text: string, line: string, keyAt: number): Head | Fault | undefined {
    const valueAt = keyAt + '\r\n'.length + this.#keyName.length + ':'.length;
    const found = text.indexOf('\r\n', valueAt);
    const end = found < 0 ? text.length : found;
    const value = text.slice(valueAt, end);
    if (hasControl(value)) return undefined;
    const lines =
      keyAt === line.length
        ? text.slice(end + '\r\n'.length)
        : text.slice(line.length + '\r\n'.length, keyAt) + text.slice(end);
    const fields = this.#fieldsOf(lines);
    if ('reason' in fields || fields.has(this.#keyName) || fields.lineCount >= FIELDS_MAX) return undefined;
    const key = trimBlanks(value);
    const headers = new FieldsWithKey(fields, this.#keyName, key);
    return headOf(parseLine(line), fields, headers, valueAt + value.indexOf(key));
  }

  #fieldsOf(text: string): Fields | Fault {
    const known = this.#fields.get(text);
    if (known) return known;
    const fields = parseFields(text);
    if (!('reason' in fields)) fields.cacheKey = text;
    return fields;
  }
}
