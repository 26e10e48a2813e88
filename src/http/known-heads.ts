import { type Fault, type Head, readHead } from './head.ts';
import { SeenBefore } from './seen-before.ts';

/** A longer head is read each time: an attacker's must not fill the memory. */
const LENGTH_MAX = 2_048;
const HEADS_MAX = 4_000;

/** Clients send the same head again and again, byte for byte. One that came twice is known, the oldest going first. */
export class KnownHeads {
  readonly #heads = new Map<string, Head>();
  readonly #seen = new SeenBefore();

  /** The head that these bytes are, no less and no more. */
  find(bytes: Buffer): Head | undefined {
    return bytes.length <= LENGTH_MAX ? this.#heads.get(bytes.toString('latin1')) : undefined;
  }

  /** Reads a head. `text` ends with the empty line. */
  read(text: string): Head | Fault {
    const known = this.#heads.get(text);
    if (known) return known;
    const head = readHead(text.slice(0, -4));
    if ('why' in head || head.framing || text.length > LENGTH_MAX || !this.#seen.has(text)) return head;
    if (this.#heads.size >= HEADS_MAX) this.#heads.delete(this.#heads.keys().next().value!);
    this.#heads.set(text, head);
    return head;
  }
}
