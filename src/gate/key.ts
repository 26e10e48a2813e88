/**
 * API keys:  pit_live_  +  30 random base62 characters  +  6 base62 characters of CRC32 over all before them
 * The pattern and the checksum reject garbage before any lookup, and let secret scanners find leaked keys.
 */
const PREFIX = 'pit_live_';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
export const KEY_LENGTH = PREFIX.length + BODY_LENGTH + CHECKSUM_LENGTH;
const PATTERN = new RegExp(`^${PREFIX}[0-9A-Za-z]{${BODY_LENGTH + CHECKSUM_LENGTH}}$`);

export type RandomBytes = (length: number) => Uint8Array;

export const secureRandom: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));

export function createKey(random: RandomBytes): string {
  const body = PREFIX + randomBase62(BODY_LENGTH, random);
  return body + checksum(body);
}

/** Whether a text has the pattern and checksum of a key. */
export function isWellFormed(text: string): boolean {
  if (text.length !== KEY_LENGTH || !PATTERN.test(text)) return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** Shortens every key in a text to its prefix, for messages that quote the caller. Ignores case: codes are upper-cased. */
export function redactKeys(text: string): string {
  return text.replace(/pit_live_[0-9a-z]+/gi, `${PREFIX}…`);
}

/** The hash that the ledger stores instead of a key. 178 random bits need no slow hash. */
export function hashKey(key: string): string {
  return new Bun.CryptoHasher('sha256').update(key).digest('hex');
}

/** A short public id, for example `key_4fGh1Kq0ZsPw`. */
export function createId(prefix: string, random: RandomBytes): string {
  return `${prefix}_${randomBase62(12, random)}`;
}

function randomBase62(length: number, random: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length)) {
      // 248 is the largest multiple of 62 in a byte: larger values would make some characters more likely.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

function checksum(body: string): string {
  let rest = Bun.hash.crc32(body);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = BASE62[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
