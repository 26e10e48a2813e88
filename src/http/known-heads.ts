import type { Fault } from './fault.ts';
import { type Fields, readFields } from './fields.ts';
import { type Head, readHead } from './head.ts';
import { SeenBefore } from './seen-before.ts';

/** A longer head is read each time: an attacker's must not fill the memory. */
const LENGTH_MAX = 2_048;
const KNOWN_MAX = 4_000;
const HEAD_END = '\r\n\r\n';

/**
 * Clients send the same head again and again, byte for byte, or at least the same header lines under another first line.
 * What came twice is known, the oldest going first.
 */
export class KnownHeads {
  readonly #heads = new Known<Head>();
  readonly #fields = new Known<Fields>();

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

  #readNew(text: string): Head | Fault {
    const lines = text.slice(0, -HEAD_END.length);
    if (text.length > LENGTH_MAX) return readHead(lines); // nor may its header lines be kept: they are parts of its text
    const head = readHead(lines, this.#fieldsOf);
    if (!('why' in head) && !head.framing) this.#heads.keep(text, head);
    return head;
  }

  readonly #fieldsOf = (text: string): Fields | Fault => {
    const known = this.#fields.get(text);
    if (known) return known;
    const fields = readFields(text);
    if (!('why' in fields)) this.#fields.keep(text, fields);
    return fields;
  };
}

class Known<T> {
  readonly #all = new Map<string, T>();
  readonly #seen = new SeenBefore();

  get(text: string): T | undefined {
    return this.#all.get(text);
  }

  keep(text: string, value: T): void {
    if (!this.#seen.has(text)) return;
    if (this.#all.size >= KNOWN_MAX) this.#all.delete(this.#all.keys().next().value!);
    this.#all.set(text, value);
  }
}
