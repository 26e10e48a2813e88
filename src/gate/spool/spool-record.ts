import type { Period } from '../../ledger/quota/period.ts';
import { eraseSealed, readSealed, writeSealed } from './sealed-json.ts';

/**
 * One record of the spool has two parts; `SpoolFile` knows where they are:
 *
 *      ├─ the owner, sealed JSON ─┤    ├─ a count of 8 bytes for each endpoint ─┤
 *      └─ written once ───────────┘    └─ one aligned store each ───────────────┘
 *
 * The owner says whose counts these are. A count is changed by a single 8-byte store, which no kill can tear, and the
 * same store holds its check bits. So damage to a record is always detected. The check bits depend on the owner: a power failure
 * can leave the owner of one lease with the counts of the record's last one, because the parts are on different pages of the disk.
 */
export interface Owner {
  accountId: string;
  period: Period;
  leaseId: string;
  replica: string;
}

/** The bytes of the owner: two UUIDs, the month, and an account id of up to 63 characters; ours have 16. */
export const OWNER_BYTES = 160;

/** A lease is replaced before one of its counts could exceed this. */
export const COUNT_MAX = 2 ** 28 - 1;

const CHECK_RANGE = 2 ** 24;

/** What the check bits of an owner's counts contain. */
export function saltOf({ leaseId }: Owner): number {
  return Bun.hash.crc32(leaseId) % CHECK_RANGE;
}

/**
 * A count and 24 check bits as one integer below 2^52, which a float64 holds exactly. The check bits of 0 are not 0, so
 * that a page of zeros is not taken for counts.
 */
export function pack(count: number, salt: number): number {
  return count * CHECK_RANGE + (checkOf(count) ^ salt);
}

/** The count of a packed one that is known to be valid. */
export function countIn(packed: number): number {
  return Math.floor(packed / CHECK_RANGE);
}

/** Adds to a packed count, and keeps its salt. One aligned store: no kill can tear it. */
export function addCount(words: Float64Array, at: number, units: number): void {
  const packed = words[at]!;
  const count = countIn(packed);
  const salt = (packed - count * CHECK_RANGE) ^ checkOf(count);
  words[at] = pack(count + units, salt);
}

/** The count, or undefined when the check bits do not match. */
export function unpack(packed: number, salt: number): number | undefined {
  const count = countIn(packed);
  return count >= 0 && count <= COUNT_MAX && pack(count, salt) === packed ? count : undefined;
}

/** Writes the owner. Until it is complete, the record counts as empty. */
export function writeOwner(area: Uint8Array, { accountId, period, leaseId, replica }: Owner): void {
  if (!writeSealed(area, [accountId, period, leaseId, replica])) {
    throw new Error(`the account id "${accountId}" is too long for the spool`);
  }
}

export function eraseOwner(area: Uint8Array): void {
  eraseSealed(area);
}

/** The owner; `empty` when there is none, `torn` when the checksum does not match. Before version 3 it was an object. */
export function readOwner(area: Uint8Array): Owner | 'empty' | 'torn' {
  const sealed = readSealed(area);
  if (typeof sealed === 'string') return sealed;
  if (!Array.isArray(sealed.value)) return sealed.value as Owner;
  const [accountId, period, leaseId, replica] = sealed.value;
  return { accountId, period, leaseId, replica };
}

function checkOf(count: number): number {
  return Math.imul(count ^ 0x5bd1_e995, 0x9e37_79b1) >>> 8;
}
