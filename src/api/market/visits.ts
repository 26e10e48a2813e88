import { timingSafeEqual } from 'node:crypto';

/** How long the unit of a market view pays for newer quotes. */
const VISIT_MS = 3_600_000;

const TAG_CHARACTERS = 22;

/**
 * Proof that an account has paid for a market view: the time, and a keyed hash of it and the account. Every replica that
 * shares the secret accepts it, and none has to store it.
 */
export class Visits {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  issue(accountId: string, now: number): string {
    const started = now.toString(36);
    return `${started}.${this.#tag(accountId, started)}`;
  }

  isValid(visit: string, accountId: string, now: number): boolean {
    const [started = '', tag = ''] = visit.split('.');
    const age = now - Number.parseInt(started, 36);
    if (!(age < VISIT_MS)) return false; // also when it is not a number
    const [sent, expected] = [Buffer.from(tag), Buffer.from(this.#tag(accountId, started))];
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  }

  #tag(accountId: string, started: string): string {
    const hash = new Bun.CryptoHasher('sha256', this.#secret).update(`visit ${accountId} ${started}`);
    return hash.digest('base64url').slice(0, TAG_CHARACTERS);
  }
}
