import { createCipheriv } from 'node:crypto';

/** What a tag says besides the content of its response. */
export interface TagOptions {
  delayMs: number;
  /** A weak tag belongs to a response that may differ in its timestamp. */
  weak: boolean;
  /** Where the newest visible price of each symbol stands. Without it, a price that returns brings its old tag back. */
  newest?: Uint8Array | undefined;
}

/**
 * Entity tags: a keyed hash of the content, the ledger's epoch and the plan's delay. A correction changes the tag and
 * another symbol's tick does not; a restored ledger never repeats a tag. Tags are free, prices are not, so a tag must
 * tell nothing but whether two responses are the same (docs/decisions/0003).
 *
 *     content ─► GMAC, key 1 ─► HMAC-SHA-256, key 2 (epoch, delay, newest) ─► 128 bits
 *
 * GMAC with a secret key is a universal hash: nobody can choose two contents that collide. It takes 1.4 µs for 8 KB
 * where HMAC alone takes 6.3 µs. Its value never leaves this class, so the fixed nonce reveals nothing; the HMAC turns
 * it into a tag that cannot be told from random bits.
 */
export class EntityTags {
  readonly #hashKey: Uint8Array;
  readonly #tagKey: Uint8Array;
  readonly #epoch: () => string;
  /** HMACs by delay that have taken in the epoch. */
  readonly #started = new Map<number, Bun.CryptoHasher>();
  #startedIn = '';

  constructor(secret: string, epoch: () => string) {
    this.#hashKey = deriveKey(secret, 'content');
    this.#tagKey = deriveKey(secret, 'tag');
    this.#epoch = epoch;
  }

  /** The tag of a response whose content is at hand. */
  ofContent(content: Uint8Array, { delayMs, weak, newest }: TagOptions): string {
    const gmac = createCipheriv('aes-256-gcm', this.#hashKey, NONCE);
    gmac.setAAD(content);
    gmac.final();
    const hmac = this.#hmac(delayMs).update(gmac.getAuthTag());
    if (newest) hmac.update(newest);
    return print(hmac, weak);
  }

  /**
   * The tag of a response that is streamed, and so has to be tagged before its content is known. `state` names all that
   * the content follows from, equal on every replica: the question, the format, and the revisions that it reads.
   */
  ofState(state: string, delayMs: number): string {
    return print(this.#hmac(delayMs).update('state').update(state), false);
  }

  #hmac(delayMs: number): Bun.CryptoHasher {
    const epoch = this.#epoch();
    if (epoch !== this.#startedIn) {
      this.#started.clear();
      this.#startedIn = epoch;
    }
    return this.#started
      .getOrInsertComputed(delayMs, () =>
        new Bun.CryptoHasher('sha256', this.#tagKey).update(`${epoch} ${delayMs}\n`),
      )
      .copy();
  }
}

const NONCE = new Uint8Array(12);

/** 128 bits. */
const TAG_CHARACTERS = 32;

function deriveKey(secret: string, purpose: string): Uint8Array {
  return new Bun.CryptoHasher('sha256', secret).update(`etag ${purpose}`).digest();
}

function print(hmac: Bun.CryptoHasher, weak: boolean): string {
  const tag = hmac.digest('hex').slice(0, TAG_CHARACTERS);
  return weak ? `W/"${tag}"` : `"${tag}"`;
}

/** The tag of the same answer in another encoding, which is another representation. */
export function etagOfEncoding(etag: string, encoding: string): string {
  return `${etag.slice(0, -1)}-${encoding}"`;
}

/** Whether one of the tags in `If-None-Match` is this one, by the weak comparison that the header asks for. */
export function matches(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const own = opaque(etag);
  return ifNoneMatch.split(',').some((tag) => opaque(tag) === own);
}

function opaque(tag: string): string {
  return tag
    .trim()
    .replace(/^W\//, '')
    .replaceAll('"', '')
    .replace(/-gzip$/, '');
}
